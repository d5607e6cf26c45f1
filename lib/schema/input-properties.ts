import type { PromptArgument } from '@modelcontextprotocol/server';
import { resolveLocalRef } from './json-schema.js';
import { isRecord } from '../util/is-record.js';
import { SchemaError } from './schema.error.js';
import type { JsonSchema } from './types.js';

/** @throws SchemaError for arguments in a union, because `prompts/list` cannot show them */
export function promptArguments(jsonSchema: JsonSchema): PromptArgument[] {
  const { properties, required, ...rest } = resolveLocalRef(jsonSchema, jsonSchema) ?? {};
  if (!isRecord(properties)) {
    if ('anyOf' in rest || 'oneOf' in rest || 'allOf' in rest) {
      throw new SchemaError(
        "a prompt's arguments must be the properties of one object: replace the union by optional properties",
      );
    }
    return [];
  }
  const names: unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, schema]) => {
    const { title, description } = resolveLocalRef(jsonSchema, schema) ?? {};
    return {
      name,
      ...(typeof title === 'string' && { title }),
      ...(typeof description === 'string' && { description }),
      required: names.includes(name),
    };
  });
}

/** The values of an enumeration, or of a list's items, as strings. @returns undefined if other values are possible */
export function enumValues(jsonSchema: JsonSchema, property: string): readonly string[] | undefined {
  const properties = resolveLocalRef(jsonSchema, jsonSchema)?.properties;
  if (!isRecord(properties) || !Object.hasOwn(properties, property)) return undefined;
  const values = valuesOf(jsonSchema, properties[property], 0);
  return values && [...new Set(values)];
}

/** Limits the depth, because a `$ref` can be circular. */
const MAX_DEPTH = 10;

function valuesOf(root: JsonSchema, schema: unknown, depth: number): string[] | undefined {
  const resolved = depth < MAX_DEPTH && resolveLocalRef(root, schema);
  if (!resolved) return undefined;
  if ('const' in resolved) return named([resolved.const]);
  if (Array.isArray(resolved.enum)) return named(resolved.enum);
  if (resolved.type === 'boolean') return ['true', 'false'];
  if (resolved.type === 'null') return [];
  const branches = resolved.anyOf ?? resolved.oneOf;
  if (Array.isArray(branches)) {
    const all = branches.map(branch => valuesOf(root, branch, depth + 1));
    return all.every(values => values !== undefined) ? all.flat() : undefined;
  }
  return valuesOf(root, resolved.items, depth + 1);
}

function named(values: readonly unknown[]): string[] {
  return values.filter(value => value !== null).map(String);
}
