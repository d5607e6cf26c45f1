import 'reflect-metadata';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { IsInt } from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';
import { compileSchema } from './compile-schema.js';
import { SchemaError } from './schema.error.js';
import type { JsonSchema, SchemaIo, SchemaLike } from './types.js';

class PageDto {
  @IsInt()
  page!: number;
}

const PAGE: JsonSchema = { type: 'object', properties: { page: { type: 'integer' } }, required: ['page'] };
const KINDS: [string, () => SchemaLike][] = [
  ['a class', () => PageDto],
  ['zod', () => z.object({ page: z.int() })],
  ['valibot', () => toStandardJsonSchema(v.object({ page: v.pipe(v.number(), v.integer()) }))],
  ['JSON Schema', () => PAGE],
];

describe.each(KINDS)('compileSchema of %s', (_, make) => {
  it.each(['input', 'output'] satisfies SchemaIo[])('describes and checks an %s', async io => {
    const { jsonSchema, validate } = await compileSchema(make(), io);
    expect(jsonSchema).toMatchObject({
      type: 'object',
      properties: { page: { type: 'integer' } },
      required: ['page'],
    });
    expect(await validate({ page: 1 })).toEqual({ ok: true, value: { page: 1 } });
    expect(await validate({ page: 'one' })).toEqual({
      ok: false,
      issues: [{ path: 'page', message: expect.any(String) }],
    });
  });

  it.each([undefined, null, 'text', 5, true, []])(
    'takes %j for an issue, not for a reason to throw',
    async value => {
      const { validate } = await compileSchema(make(), 'input');
      expect(await validate(value)).toMatchObject({ ok: false });
    },
  );

  it('is plain data, without $schema, that nobody can change', async () => {
    const { jsonSchema } = await compileSchema(make(), 'input');
    expect(JSON.parse(JSON.stringify(jsonSchema))).toEqual(jsonSchema);
    expect(jsonSchema).not.toHaveProperty('$schema');
    expect(Object.isFrozen(jsonSchema)).toBe(true);
    expect(Object.isFrozen((jsonSchema.properties as Record<string, unknown>).page)).toBe(true);
  });

  it('compiles the same object once for each direction', async () => {
    const schema = make();
    const input = await compileSchema(schema, 'input');
    expect(await compileSchema(schema, 'input')).toBe(input);
    expect(await compileSchema(schema, 'output')).not.toBe(input);
  });
});

it.each([
  [undefined, 'the schema is undefined: look for a circular import'],
  [null, 'a schema is a class, a Standard Schema or JSON Schema, not null'],
  ['object', 'a schema is a class, a Standard Schema or JSON Schema, not "object"'],
  [true, 'a schema is a class, a Standard Schema or JSON Schema, not true'],
])('refuses %j as a schema', async (schema, message) => {
  const refusal = compileSchema(schema as unknown as SchemaLike, 'input');
  await expect(refusal).rejects.toThrow(SchemaError);
  await expect(refusal).rejects.toThrow(message);
});

it('leaves the schema of the author as it was', async () => {
  const schema = { properties: { city: { type: 'string' } } };
  await compileSchema(schema, 'input');
  expect(schema).toEqual({ properties: { city: { type: 'string' } } });
  expect(Object.isFrozen(schema.properties)).toBe(false);
});
