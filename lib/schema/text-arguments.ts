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
 * Converts a prompt's texts to the numbers and booleans of a schema. Other texts stay as they are.
 * @param type the class of the schema, if any: its `@Transform()`s come first
 * @throws SchemaError for a property that no text can become
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

/** Checks that a schema converts texts by itself. @throws SchemaError */
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
 * JSON Schema does not say whether a schema converts (`z.coerce.number()`), so the schema is tried out:
 * it takes a text if it reports the same for the text as for the value.
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
    return true; // It ran, and so it takes texts.
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

/** The properties whose JSON Schema excludes texts: name, types and a sample of a scalar. */
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

/** A `$ref` can lead in a circle. */
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
