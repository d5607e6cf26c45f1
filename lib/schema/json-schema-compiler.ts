import type { ErrorObject } from 'ajv';
import type { ForeignPatterns } from './foreign-patterns.js';
import { pointerSteps } from './json-pointer.js';
import { compileValidator } from './json-schema-engine.js';
import { requireObjectRoot } from './object-root.js';
import { toPlainJson } from './plain-json.js';
import { childPath, failure, success } from './result.js';
import type { CompiledSchema, JsonSchema, SchemaIo, SchemaIssue } from './types.js';

/**
 * Does not fill in defaults. @throws SchemaError
 * @param patterns for a schema of another process; `begin` it before each validation
 */
export function compileJsonSchema(
  schema: JsonSchema,
  io: SchemaIo,
  patterns?: ForeignPatterns,
): CompiledSchema {
  const plain = toPlainJson(schema);
  const jsonSchema = io === 'input' ? requireObjectRoot(plain) : plain;
  const check = compileValidator(jsonSchema, patterns);
  return {
    jsonSchema,
    validate: value =>
      check(value) ? success(value) : failure((check.errors ?? []).map(error => toIssue(error, value))),
  };
}

function toIssue({ instancePath, params, message, keyword }: ErrorObject, value: unknown): SchemaIssue {
  let path = '';
  let parent = value;
  for (const step of pointerSteps(instancePath)) {
    path = childPath(path, Array.isArray(parent) ? Number(step) : step);
    parent = (parent as Record<string, unknown>)[step];
  }
  const property: unknown =
    params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName;
  return {
    path: typeof property === 'string' ? childPath(path, property) : path,
    message: message ?? keyword,
  };
}
