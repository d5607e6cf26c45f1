import { isRecord } from './plain-json.js';
import type { JsonSchema } from './types.js';

/** `schema` as it stands under the property `name` of an object's schema: its local `$ref`s lead there. */
export function embedded(schema: JsonSchema, name: string): JsonSchema {
  return moved(schema, `#/properties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`) as JsonSchema;
}

function moved(schema: unknown, to: string): unknown {
  if (Array.isArray(schema)) return schema.map(item => moved(item, to));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === '$ref' && typeof value === 'string' && value.startsWith('#')
        ? to + value.slice(1)
        : moved(value, to),
    ]),
  );
}
