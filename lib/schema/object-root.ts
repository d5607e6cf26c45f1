import { resolveLocalRef } from './local-ref.js';
import { SchemaError } from './schema.error.js';
import type { JsonSchema } from './types.js';

/** Adds `type: 'object'` to the root, as MCP requires, if the schema implies it. @throws SchemaError for another root */
export function requireObjectRoot(schema: JsonSchema): JsonSchema {
  if (schema.type === 'object') return schema;
  if (!isObjectSchema(schema, schema, new Set())) {
    throw new SchemaError(
      "an input schema must describe an object: make the value a property of one, or add `type: 'object'`",
    );
  }
  return Object.freeze({ type: 'object', ...schema });
}

function isObjectSchema(root: JsonSchema, schema: unknown, seen: Set<unknown>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const resolved = resolveLocalRef(root, schema);
  if (!resolved) return false;
  if (resolved.type !== undefined) return resolved.type === 'object';
  if (resolved.properties) return true;

  const isObject = (branch: unknown) => isObjectSchema(root, branch, new Set(seen));
  const unions = [resolved.anyOf, resolved.oneOf].filter(Array.isArray);
  return (
    unions.some(branches => branches.length > 0 && branches.every(isObject)) ||
    (Array.isArray(resolved.allOf) && resolved.allOf.some(isObject))
  );
}
