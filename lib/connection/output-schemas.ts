import type { JsonSchemaType, JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/client';
import { ForeignPatterns } from '../schema/foreign-patterns.js';
import { compileForeign } from '../schema/json-schema-compiler.js';
import { PatternError } from '../schema/linear-pattern.js';

/**
 * Checks results against the output schemas of the server. It skips patterns that do not run in linear time.
 * @param warn receives the first reason for which a part of a schema is not checked
 */
export function outputSchemas(warn: (message: string) => void = () => undefined): jsonSchemaValidator {
  let hasWarned = false;
  const skip = (reason: string) => {
    if (hasWarned) return;
    hasWarned = true;
    warn(`Part of an output schema of the server is not checked: ${reason}. Further ones are not logged.`);
  };
  return {
    /** @throws Error for a schema that does not compile; the SDK reports it when the tool is called */
    getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
      const patterns = new ForeignPatterns(skip);
      const validator = orSkipped(() => compileForeign(schema, patterns), skip);
      return input => {
        patterns.begin();
        const isValid = orSkipped(() => validator?.check(input), skip) ?? true;
        return isValid || validator === undefined
          ? { valid: true, data: input as T, errorMessage: undefined }
          : { valid: false, data: undefined, errorMessage: validator.errorsText() };
      };
    },
  };
}

/** Leaves the schema unchecked if such a pattern cannot be skipped, as in `patternProperties`. */
function orSkipped<T>(work: () => T, skip: (reason: string) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    skip(error.message);
    return undefined;
  }
}
