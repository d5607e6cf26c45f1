import { pointerSteps } from './json-pointer.js';
import { isRecord } from '../util/is-record.js';
import type { JsonSchema } from './types.js';

/** Follows local `$ref`s; keywords beside a `$ref` win. @returns undefined for an unresolvable schema */
export function resolveLocalRef(root: JsonSchema, schema: unknown): JsonSchema | undefined {
  const seen = new Set<string>();
  let resolved = schema;
  while (isRecord(resolved) && typeof resolved.$ref === 'string') {
    const { $ref, ...beside } = resolved;
    if (seen.has($ref)) return undefined;
    seen.add($ref);
    const target = lookUp(root, $ref);
    if (!isRecord(target)) return undefined;
    resolved = { ...target, ...beside };
  }
  return isRecord(resolved) ? resolved : undefined;
}

function lookUp(root: JsonSchema, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const step of pointerSteps(ref)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

/** `schema` under the property `name` of an object: moves its local `$ref`s there. */
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
