import type { Type } from '@nestjs/common';
import { loadClassPeers } from './class-peers.js';
import { isScalar } from './class-rules.js';
import { resolveLocalRef } from './json-schema.js';
import { isRecord } from '../util/is-record.js';
import { SchemaError } from './schema.error.js';
import type { CompiledSchema, JsonSchema } from './types.js';

type Convert = (text: string) => unknown;
type Scalar = string | number | boolean;

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

const toNumber: Convert = text => (NUMBER.test(text) ? Number(text) : text);
const toBoolean: Convert = text => (text === 'true' || text === 'false' ? text === 'true' : text);

const CONVERTERS = new Map<unknown, Convert>([
  ['number', toNumber],
  ['integer', toNumber],
  ['boolean', toBoolean],
]);

/**
 * Converts a prompt's string arguments to the numbers and booleans of a schema. Other strings stay as they are.
 * @param type the class of the schema, if any; its `@Transform()`s run first
 * @throws SchemaError for a property that cannot be made from a string
 */
export async function takingTexts(schema: CompiledSchema, type?: Type): Promise<CompiledSchema> {
  const peers = type && (await loadClassPeers());
  const converters = new Map<string, Convert>();
  for (const [name, types] of typesWithoutText(schema.jsonSchema)) {
    if (type && peers?.isTransformed(type, name)) continue;
    const convert = types.map(one => CONVERTERS.get(one)).find(one => one !== undefined);
    if (!convert)
      throw new SchemaError(`${unfit(name, types)}: convert it with @Transform() of class-transformer`);
    converters.set(name, convert);
  }
  if (converters.size === 0) return schema;
  const converted = (value: unknown): unknown =>
    isRecord(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, text]) => [
            name,
            typeof text === 'string' ? (converters.get(name)?.(text) ?? text) : text,
          ]),
        )
      : value;
  return { ...schema, validate: value => schema.validate(converted(value)) };
}

/** Checks that a schema converts strings itself. @throws SchemaError */
export async function assertTakesTexts(schema: CompiledSchema): Promise<void> {
  for (const [name, types, sample] of typesWithoutText(schema.jsonSchema)) {
    if (await takesText(schema, name, sample)) continue;
    const [type] = types;
    const remedy = CONVERTERS.has(type)
      ? `use ${type === 'boolean' ? 'z.stringbool()' : 'z.coerce.number()'} of zod, or take a string and convert it`
      : 'take a string and convert it';
    throw new SchemaError(`${unfit(name, types)}: ${remedy}`);
  }
}

const unfit = (name: string, types: readonly unknown[]): string =>
  `its argument "${name}" is of type ${types.join(' or ')}, but a prompt's arguments are strings on the wire`;

const TEXTS = ['', 'a', 'a,b', '1', 'true', '[]', '{}', 'null'];

/**
 * Tests whether a schema converts strings (`z.coerce.number()`), because its JSON Schema does not say it. The schema
 * accepts a string if it reports the same for the string as for the value.
 */
async function takesText(schema: CompiledSchema, name: string, sample: Scalar | undefined): Promise<boolean> {
  try {
    if (sample !== undefined) {
      const [text, value] = await Promise.all([String(sample), sample].map(one => said(schema, name, one)));
      return text === value;
    }
    const all = await Promise.all(TEXTS.map(text => said(schema, name, text)));
    return all.some(text => text === '');
  } catch {
    return true; // A converter ran and threw, so the schema accepts strings.
  }
}

async function said(schema: CompiledSchema, name: string, value: unknown): Promise<string> {
  const result = await schema.validate({ [name]: value });
  if (result.ok) return '';
  return result.issues
    .filter(({ path }) => path === name)
    .map(({ message }) => message)
    .join();
}

/** The properties whose JSON Schema excludes strings: name, types and a sample of a scalar. */
function* typesWithoutText(
  jsonSchema: JsonSchema,
): Generator<[string, readonly unknown[], Scalar | undefined]> {
  const properties = resolveLocalRef(jsonSchema, jsonSchema)?.properties;
  if (!isRecord(properties)) return;
  for (const [name, property] of Object.entries(properties)) {
    const schema = resolveLocalRef(jsonSchema, property);
    const types = schema && typesOf(jsonSchema, schema, 0);
    if (!types || types.includes('string')) continue;
    const scalar = types.find(type => CONVERTERS.has(type));
    const first = [schema.const, ...(Array.isArray(schema.enum) ? (schema.enum as unknown[]) : [])].find(
      isScalar,
    );
    yield [name, types, scalar === undefined ? undefined : (first ?? (scalar === 'boolean' ? true : 1))];
  }
}

/** Limits the depth, because a `$ref` can be circular. */
const MAX_DEPTH = 10;

function typesOf(root: JsonSchema, schema: JsonSchema, depth: number): readonly unknown[] | undefined {
  if (schema.type !== undefined)
    return Array.isArray(schema.type) ? (schema.type as unknown[]) : [schema.type];
  const branches = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(branches) || depth >= MAX_DEPTH) return undefined;
  const all = branches.map(branch => {
    const resolved = resolveLocalRef(root, branch);
    return resolved && typesOf(root, resolved, depth + 1);
  });
  return all.every(types => types !== undefined) ? [...new Set(all.flat())] : undefined;
}
