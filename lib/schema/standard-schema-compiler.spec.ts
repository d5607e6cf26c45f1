import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { SchemaError } from './schema.error.js';
import { compileStandardSchema } from './standard-schema-compiler.js';
import type { StandardSchemaWithJSON } from './types.js';

const withoutJson = (vendor: string) =>
  ({
    '~standard': { version: 1, vendor, validate: (value: unknown) => ({ value }) },
  }) as StandardSchemaWithJSON;

describe('the JSON Schema of a Standard Schema', () => {
  it('tells input and output apart', () => {
    const schema = z.object({ limit: z.number().default(10) });
    expect(compileStandardSchema(schema, 'input').jsonSchema).not.toHaveProperty('required');
    expect(compileStandardSchema(schema, 'output').jsonSchema).toHaveProperty('required', ['limit']);
  });

  it('keeps keywords that it does not know', () => {
    const schema = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) });
    expect(compileStandardSchema(schema, 'input').jsonSchema).toHaveProperty('properties.region', {
      type: 'string',
      'x-mcp-header': 'Region',
    });
  });

  it.each<[string, StandardSchemaWithJSON]>([
    ['a union', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    [
      'a discriminated union',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]),
    ],
    ['a variant of valibot', toStandardJsonSchema(v.variant('k', [v.object({ k: v.literal('a') })]))],
    ['a record', z.record(z.string(), z.number())],
  ])('takes %s for an object', (_, schema) => {
    expect(compileStandardSchema(schema, 'input').jsonSchema).toHaveProperty('type', 'object');
  });

  it.each<[string, StandardSchemaWithJSON]>([
    ['a string', z.string()],
    ['a list', z.array(z.string())],
    ['an object or null', z.object({}).nullable()],
    ['a union with a string', toStandardJsonSchema(v.union([v.object({}), v.string()]))],
  ])('refuses %s as input, not as output', (_, schema) => {
    expect(() => compileStandardSchema(schema, 'input')).toThrow('an input schema must describe an object');
    expect(() => compileStandardSchema(schema, 'output')).not.toThrow();
  });

  it.each<[string, string]>([
    [
      'zod',
      'the zod schema carries no JSON Schema: make it with "zod" 4.2 or later, not with "zod/mini" or zod 3, or pass JSON Schema instead',
    ],
    ['valibot', 'wrap it in toStandardJsonSchema() of @valibot/to-json-schema, or pass JSON Schema instead'],
    ['toString', 'the toString schema carries no JSON Schema: pass JSON Schema instead'],
  ])('says what to do about %s without JSON Schema', (vendor, message) => {
    expect(() => compileStandardSchema(withoutJson(vendor), 'input')).toThrow(SchemaError);
    expect(() => compileStandardSchema(withoutJson(vendor), 'input')).toThrow(message);
  });

  it('refuses a bare valibot schema', () => {
    const schema = v.object({}) as unknown as StandardSchemaWithJSON;
    expect(() => compileStandardSchema(schema, 'input')).toThrow('toStandardJsonSchema()');
  });

  it.each<[string, StandardSchemaWithJSON, string]>([
    ['a date of zod', z.object({ at: z.date() }), 'Date cannot be represented'],
    ['a transform of zod', z.object({ n: z.string().transform(Number) }), 'Transforms cannot be represented'],
    [
      'a date of valibot',
      toStandardJsonSchema(v.object({ at: v.date() })),
      '"date" schema cannot be converted',
    ],
  ])('passes on why %s has none', (_, schema, reason) => {
    expect(() => compileStandardSchema(schema, 'output')).toThrow(SchemaError);
    expect(() => compileStandardSchema(schema, 'output')).toThrow(reason);
  });
});

describe('validation by a Standard Schema', () => {
  it.each<[string, StandardSchemaWithJSON]>([
    ['zod', z.object({ lines: z.array(z.object({ qty: z.number() })) })],
    ['valibot', toStandardJsonSchema(v.object({ lines: v.array(v.object({ qty: v.number() })) }))],
  ])('names the path of an issue of %s', async (_, schema) => {
    const result = await compileStandardSchema(schema, 'input').validate({
      lines: [{ qty: 1 }, { qty: 'x' }],
    });
    expect(result).toEqual({ ok: false, issues: [{ path: 'lines[1].qty', message: expect.any(String) }] });
  });

  it('hands back what the schema made of the value', () => {
    const { validate } = compileStandardSchema(z.object({ limit: z.number().default(10) }), 'input');
    expect(validate({})).toEqual({ ok: true, value: { limit: 10 } });
  });

  it('waits for a schema that checks asynchronously', async () => {
    const isFree = (name: string) => Promise.resolve(name !== 'taken');
    const schema = toStandardJsonSchema(v.object({ name: v.string() }));
    const slow: StandardSchemaWithJSON = {
      '~standard': {
        ...schema['~standard'],
        validate: async value =>
          (await isFree((value as { name: string }).name))
            ? { value }
            : { issues: [{ message: 'is taken', path: ['name'] }] },
      },
    };
    const { validate } = compileStandardSchema(slow, 'input');
    await expect(validate({ name: 'free' })).resolves.toEqual({ ok: true, value: { name: 'free' } });
    await expect(validate({ name: 'taken' })).resolves.toEqual({
      ok: false,
      issues: [{ path: 'name', message: 'is taken' }],
    });
  });
});
