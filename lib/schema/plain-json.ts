import { isRecord } from '../util/is-record.js';
import { reasonOf, SchemaError } from './schema.error.js';
import type { JsonSchema } from './types.js';

/** A deep-frozen copy as plain JSON data. @throws SchemaError */
export function toPlainJson(schema: unknown): JsonSchema {
  let plain: unknown;
  try {
    plain = JSON.parse(JSON.stringify(schema));
  } catch (error) {
    throw new SchemaError(`the JSON Schema must be plain JSON data: ${reasonOf(error)}`, { cause: error });
  }
  if (!isRecord(plain)) throw new SchemaError('the JSON Schema must be an object, not a boolean or a list');
  return deepFreeze(plain);
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value))
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  return Object.freeze(value);
}
