import { isRecord } from '../util/is-record.js';
import type { JsonSchema } from './types.js';
import { SchemaError, reasonOf } from './schema.error.js';

/** The steps of a JSON Pointer (RFC 6901). */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export const isJsonPointer = (value: unknown): value is string =>
  typeof value === 'string' && /^(\/([^~/]|~[01])*)*$/.test(value);

/** Follows local `$ref`s; keywords beside a `$ref` override it. @returns undefined for an unresolvable schema */
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
  return valueAt(root, pointerSteps(ref));
}

/** The value at the place that the steps lead to. Inherited properties do not count. */
export function valueAt(root: unknown, steps: readonly string[]): unknown {
  let found = root;
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

/**
 * Places `schema` under the property `name` of an object schema, and adjusts its local `$ref`s.
 * @param definitions the `$defs` of the object schema, to which it adds those of `schema`
 * @param root the pointer to which `$ref`s to the root of `schema` change. Default: the property
 */
export function embedded(
  schema: JsonSchema,
  name: string,
  definitions: Record<string, unknown>,
  root = `#/properties/${escaped(name)}`,
): JsonSchema {
  const { $defs, ...rest } = schema;
  const own = isRecord($defs) ? $defs : {};
  const renamed = new Map<string, string>();
  const newRef = (_: string, step?: string) => {
    if (step === undefined) return root;
    const [key] = pointerSteps(`/${step}`);
    return `#/$defs/${escaped(renamed.get(key) ?? key)}`;
  };
  const moved = (value: unknown) => withRefs(value, ref => ref.replace(/^#(?:\/\$defs\/([^/]*))?/, newRef));
  const isTaken = (key: string) => Object.hasOwn(definitions, key);
  const isOther = (key: string) => JSON.stringify(moved(own[key])) !== JSON.stringify(definitions[key]);
  const taken = Object.keys(own).filter(isTaken);
  // Definitions refer to each other, so that they are shared only if all of them are the same.
  if (taken.some(isOther)) {
    for (const key of taken) {
      renamed.set(
        key,
        freeKey(key, one => isTaken(one) || Object.hasOwn(own, one)),
      );
    }
  }
  for (const [key, value] of Object.entries(own)) definitions[renamed.get(key) ?? key] = moved(value);
  return moved(rest) as JsonSchema;
}

/** The key, with a number if it is taken. */
export function freeKey(base: string, isTaken: (key: string) => boolean): string {
  let key = base;
  for (let n = 2; isTaken(key); n++) key = `${base}${n}`;
  return key;
}

export const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1');

function withRefs(schema: unknown, change: (ref: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map(item => withRefs(item, change));
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === '$ref' && typeof value === 'string' ? change(value) : withRefs(value, change),
    ]),
  );
}

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

/** A deep-frozen copy of a schema as plain JSON data. @throws SchemaError */
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
