import { isRecord } from './plain-json.js';
import { childPath } from './result.js';
import { SchemaError } from './schema.error.js';
import { isStandardSchema, isZodMini } from './standard-schema-compiler.js';
import type { JsonSchema, StandardSchemaWithJSON } from './types.js';

/** How many properties of a shape a message names. */
const MAX_NAMES = 5;

/**
 * Refuses an object of zod schemas (a "raw shape") where a schema belongs, and JSON Schema with zod in it. Written as JSON,
 * both would be schemas that accept anything.
 * @throws SchemaError with what to write instead
 */
export function assertNoSchemasIn(schema: JsonSchema): void {
  const values = Object.values(schema);
  const [first] = values;
  if (isSchema(first) && values.every(isSchema)) throw new SchemaError(adviceOn(schema, first));
  const found = findSchema(schema, '', new Set());
  if (!found) return;
  throw new SchemaError(
    `the JSON Schema holds a ${found.vendor} schema at ${found.path}: ` +
      `write the whole schema with ${found.vendor}, or all of it as JSON Schema`,
  );
}

function adviceOn(shape: JsonSchema, first: StandardSchemaWithJSON): string {
  const { vendor } = first['~standard'];
  const names = Object.keys(shape);
  const list = [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])].join(', ');
  const remedy = vendor === 'zod' ? `write z.object({ ${list} })` : `write an object schema of ${vendor}`;
  const source = isZodMini(first) ? ' with z of "zod", not "zod/mini"' : '';
  return `{ ${list} } is a raw ${vendor} shape, which is not a schema: ${remedy}${source}`;
}

function findSchema(
  value: unknown,
  path: string,
  seen: Set<unknown>,
): { path: string; vendor: string } | undefined {
  if (isSchema(value)) return { path, vendor: value['~standard'].vendor };
  if (!(Array.isArray(value) || isRecord(value)) || seen.has(value)) return undefined;
  seen.add(value);
  for (const [key, child] of Object.entries(value)) {
    const found = findSchema(child, childPath(path, Array.isArray(value) ? Number(key) : key), seen);
    if (found) return found;
  }
  return undefined;
}

/** Data of another process may have a member of that name, but no functions. */
const isSchema = (value: unknown): value is StandardSchemaWithJSON =>
  (typeof value === 'function' || isRecord(value)) &&
  isStandardSchema(value) &&
  typeof value['~standard']?.validate === 'function';
