import { type ErrorObject, Ajv, MissingRefError, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ForeignPatterns } from './foreign-patterns.js';
import { pointerSteps, requireObjectRoot, toPlainJson } from './json-schema.js';
import { childPath, failure } from './result.js';
import type { CompiledSchema, JsonSchema, SchemaIo, SchemaIssue } from './types.js';
import { reasonOf, SchemaError } from './schema.error.js';

/**
 * Compiles a JSON Schema. Defaults are not filled in. @throws SchemaError
 * @param patterns for a schema of another process; call `begin` before each validation
 */
export function compileJsonSchema(
  schema: JsonSchema,
  io: SchemaIo,
  patterns?: ForeignPatterns,
): CompiledSchema {
  const plain = toPlainJson(schema);
  const jsonSchema = io === 'input' ? requireObjectRoot(plain) : plain;
  return patterns ? compiled(jsonSchema, patterns) : compiledOnce(jsonSchema, io);
}

/** Maximum schemas that are remembered by their text, and maximum characters of each. */
const MAX_KNOWN = 500;
const MAX_KNOWN_LENGTH = 5000;

/** By text, because a handler that asks with a schema in place makes another object for each call. */
const known = new Map<string, CompiledSchema>();

function compiledOnce(jsonSchema: JsonSchema, io: SchemaIo): CompiledSchema {
  const text = io + JSON.stringify(jsonSchema);
  const found = known.get(text);
  if (found) return found;
  const made = compiled(jsonSchema);
  if (known.size >= MAX_KNOWN) known.clear();
  if (text.length <= MAX_KNOWN_LENGTH) known.set(text, made);
  return made;
}

function compiled(jsonSchema: JsonSchema, patterns?: ForeignPatterns): CompiledSchema {
  const check = compileValidator(jsonSchema, patterns);
  return {
    jsonSchema,
    validate: value =>
      check(value) ? { ok: true, value } : failure((check.errors ?? []).map(error => toIssue(error, value))),
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

const OPTIONS: Options = { allErrors: true, strict: false, ownProperties: true, logger: false };

/** Cached, because compiling a meta-schema takes ten times as long as compiling a tool's schema. */
const metaValidators = new Map<typeof Ajv, Ajv>();

/**
 * A validator for 2020-12, or draft-07 if `$schema` says so. Unknown keywords are allowed.
 * @param patterns for a schema of another process. Default: the native engine
 * @throws SchemaError
 */
function compileValidator(schema: JsonSchema, patterns?: ForeignPatterns): ValidateFunction {
  const Engine = /draft-07\/schema#?$/.test(String(schema.$schema)) ? Ajv : Ajv2020;
  let reason: string | undefined;
  try {
    const meta = metaValidator(Engine);
    if (!meta.validateSchema(schema)) reason = meta.errorsText(meta.errors, { dataVar: 'schema' });
  } catch (error) {
    reason = `${reasonOf(error)}, only 2020-12 and draft-07 are known`;
  }
  if (reason) throw new SchemaError(`the JSON Schema is invalid: ${reason}`);

  try {
    const validate = engineOf(Engine, patterns).compile(schema);
    if ('$async' in validate) throw new SchemaError('`$async` schemas are not supported: remove the keyword');
    return validate;
  } catch (error) {
    if (error instanceof SchemaError) throw error;
    if (error instanceof MissingRefError) {
      throw new SchemaError(
        `the JSON Schema refers to ${error.missingRef}, which is not in it: add it under $defs`,
      );
    }
    throw new SchemaError(`the JSON Schema does not compile: ${reasonOf(error)}`, { cause: error });
  }
}

interface ForeignValidator {
  readonly check: ValidateFunction;
  errorsText(): string;
}

/**
 * A validator for another process's output schema, in the dialects of the SDK.
 * @throws Error if it does not compile, is asynchronous or has another dialect
 */
export function compileForeign(schema: JsonSchema, patterns: ForeignPatterns): ForeignValidator {
  const dialect = typeof schema.$schema === 'string' ? schema.$schema.replace(/#$/, '') : '';
  const Engine = dialect === '' ? Ajv2020 : DIALECTS.get(dialect.replace(/^https:/, 'http:'));
  if (!Engine) throw new SchemaError(`the dialect "${dialect.slice(0, 200)}" is not supported`);
  const engine = engineOf(Engine, patterns);
  const check = engine.compile(schema);
  if ('$async' in check) throw new SchemaError('`$async` schemas are not supported');
  return { check, errorsText: () => engine.errorsText(check.errors) };
}

const DIALECTS: ReadonlyMap<string, typeof Ajv> = new Map([
  ['http://json-schema.org/draft/2020-12/schema', Ajv2020],
  ['http://json-schema.org/draft/2019-09/schema', Ajv2019],
  ['http://json-schema.org/draft-07/schema', Ajv],
  ['http://json-schema.org/draft-06/schema', Ajv],
]);

/** One engine for each schema, because `$id`s are global to an engine. */
function engineOf(Engine: typeof Ajv, patterns: ForeignPatterns | undefined): Ajv {
  const engine = addFormats(new Engine({ ...OPTIONS, meta: false, validateSchema: false }));
  patterns?.install(engine);
  return engine;
}

function metaValidator(Engine: typeof Ajv): Ajv {
  let meta = metaValidators.get(Engine);
  if (!meta) metaValidators.set(Engine, (meta = new Engine({ strict: false, logger: false })));
  return meta;
}
