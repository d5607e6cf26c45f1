import type { StandardSchemaV1 } from '@modelcontextprotocol/server';
import { requireObjectRoot, toPlainJson } from './json-schema.js';
import { childPath, failure, success } from './result.js';
import { reasonOf, SchemaError } from './schema.error.js';
import type {
  CompiledSchema,
  JsonSchema,
  SchemaIo,
  SchemaIssue,
  SchemaResult,
  StandardSchemaWithJSON,
} from './types.js';

const REMEDIES: Readonly<Record<string, string>> = {
  zod: 'make it with "zod" 4.2 or later, not with "zod/mini" or zod 3',
  valibot: 'wrap it in toStandardJsonSchema() of @valibot/to-json-schema',
};

/** Whether a value is a Standard Schema. It may lack a JSON Schema, and arktype schemas are functions. */
export function isStandardSchema(value: object): value is StandardSchemaWithJSON {
  return '~standard' in value;
}

/** Compiles a Standard Schema. Validated values are the results of its `validate`. @throws SchemaError */
export function compileStandardSchema(schema: StandardSchemaWithJSON, io: SchemaIo): CompiledSchema {
  const standard = schema['~standard'];
  const jsonSchema = toJsonSchema(standard, io);
  return {
    jsonSchema: io === 'input' ? requireObjectRoot(jsonSchema) : jsonSchema,
    validate: validatorOf(standard),
  };
}

/** Compiles the Standard Schema of a single value, which need not be an object. @throws SchemaError */
export function compileValue({ '~standard': standard }: StandardSchemaWithJSON): CompiledSchema {
  return { jsonSchema: toJsonSchema(standard, 'input'), validate: validatorOf(standard) };
}

const validatorOf =
  (standard: StandardSchemaWithJSON['~standard']): CompiledSchema['validate'] =>
  value => {
    const result = standard.validate(value);
    return result instanceof Promise ? result.then(toResult) : toResult(result);
  };

function toJsonSchema(standard: Partial<StandardSchemaWithJSON['~standard']>, io: SchemaIo): JsonSchema {
  const { vendor = 'unknown', jsonSchema } = standard;
  if (!jsonSchema || !standard.validate) {
    const remedy = Object.hasOwn(REMEDIES, vendor) ? `${REMEDIES[vendor]}, or ` : '';
    throw new SchemaError(`the ${vendor} schema carries no JSON Schema: ${remedy}pass JSON Schema instead`);
  }
  try {
    const { $schema: _, ...rest } = jsonSchema[io]({ target: 'draft-2020-12' });
    return toPlainJson(rest);
  } catch (error) {
    if (error instanceof SchemaError) throw error;
    throw new SchemaError(
      `the ${vendor} schema has no JSON Schema (${reasonOf(error)}): use types that JSON has, or pass JSON Schema`,
      { cause: error },
    );
  }
}

function toResult(result: StandardSchemaV1.Result<unknown>): SchemaResult {
  return result.issues ? failure(result.issues.map(toIssue)) : success(result.value);
}

function toIssue({ message, path = [] }: StandardSchemaV1.Issue): SchemaIssue {
  const stepInto = (parent: string, step: PropertyKey | { key: PropertyKey }) =>
    childPath(parent, typeof step === 'object' ? step.key : step);
  return { path: path.reduce<string>(stepInto, ''), message };
}
