import { Ajv, MissingRefError, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { reasonOf, SchemaError } from './schema.error.js';
import type { JsonSchema } from './types.js';

const OPTIONS: Options = { allErrors: true, strict: false, ownProperties: true, logger: false };

/** A meta-schema takes ten times as long to compile as the schema of a tool, so its validator is kept. */
const metaValidators = new Map<typeof Ajv, Ajv>();

/**
 * What `schema` says as a check: in 2020-12, or draft-07 if its `$schema` says so. Unknown keywords are fine.
 * @throws SchemaError if it breaks its dialect, refers to a remote schema or is asynchronous
 */
export function compileValidator(schema: JsonSchema): ValidateFunction {
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
    // An engine of its own, because `$id`s are global to an engine and two tools may use the same.
    const engine = addFormats(new Engine({ ...OPTIONS, meta: false, validateSchema: false }));
    const validate = engine.compile(schema);
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

function metaValidator(Engine: typeof Ajv): Ajv {
  let meta = metaValidators.get(Engine);
  if (!meta) metaValidators.set(Engine, (meta = new Engine({ strict: false, logger: false })));
  return meta;
}
