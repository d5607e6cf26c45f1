import type { ErrorObject, ValidateFunction } from 'ajv';
import { MAX_TIMER_MS } from '../../constants.js';
import { pointerSteps } from '../../schema/json-pointer.js';
import { compileValidator } from '../../schema/json-schema-engine.js';
import { EVENT_PATTERN } from '../protocol/events.js';
import { PRINCIPAL_TYPES, REVISION_PATTERN } from '../protocol/types.js';

/** An object with these keys only. `propertyNames`, because its errors say which keys there may be. */
const objectOf = (properties: Record<string, object>) => ({
  type: 'object',
  propertyNames: { enum: Object.keys(properties) },
  properties,
});

const int32 = {
  type: 'integer',
  minimum: -(2 ** 31),
  maximum: 2 ** 31 - 1,
  description: 'a 32-bit integer',
};

const hook = {
  ...objectOf({
    events: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'string',
        pattern: EVENT_PATTERN,
        description: 'an event: tools/call, tools/*, * or namespace/operation',
      },
      description: 'a list of events, with at least one',
    },
    phase: { enum: ['request', 'response', 'both'], description: 'request, response or both' },
  }),
  required: ['events', 'phase'],
  description: 'an object with events and a phase',
};

const texts = {
  if: { type: 'array' },
  then: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
  else: { type: 'string', minLength: 1 },
  description: 'a text that is not empty, or a list of some',
};

const revision = {
  type: 'string',
  pattern: REVISION_PATTERN,
  description: 'a revision: 2026-07-28',
};

const when = {
  ...objectOf({
    name: texts,
    principal: {
      ...objectOf({
        type: { enum: PRINCIPAL_TYPES, description: 'user, service or anonymous' },
        id: texts,
      }),
      description: 'an object with type and id',
    },
    protocol: {
      ...objectOf({ min: revision, max: revision }),
      description: 'an object with min and max',
    },
  }),
  description: 'an object with name, principal and protocol',
};

const config = { type: 'object', description: "an object: the interceptor's configuration" };

const override = {
  ...objectOf({
    failOpen: { type: 'boolean', description: 'true or false' },
    priority: {
      if: { type: 'object' },
      then: objectOf({ request: int32, response: int32 }),
      else: { ...int32, description: 'a 32-bit integer, or an object with one for request and for response' },
    },
    mode: { enum: ['active', 'enforce', 'audit'], description: 'active, enforce or audit' },
    timeoutMs: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_TIMER_MS,
      description: `a whole number of milliseconds from 1 to ${MAX_TIMER_MS}`,
    },
    // None at all would switch the interceptor off without a word.
    hooks: {
      type: 'array',
      minItems: 1,
      items: hook,
      description: 'a list of hooks, with at least one',
    },
    when,
    config,
  }),
  description: 'an object with what is overridden',
};

/** A section without entries is null in YAML. */
const ABLE_TO_BE_EMPTY = ['object', 'null'];

/** Each `description` completes "must be". */
const SCHEMA = {
  ...objectOf({
    overrides: {
      type: ABLE_TO_BE_EMPTY,
      additionalProperties: override,
      description: 'an object by name of interceptor, or by host/name',
    },
    config: {
      type: ABLE_TO_BE_EMPTY,
      additionalProperties: config,
      description: 'an object by name of interceptor',
    },
  }),
  description: 'an object with overrides and config',
};

/** These only say that something within did not fit, which has an error of its own. */
const WRAPPERS = new Set(['if', 'propertyNames']);

let validate: ValidateFunction | undefined;

/** What keeps a value from being a policy: the first such thing, or undefined. */
export function shapeProblemOf(
  value: unknown,
): { readonly steps: readonly string[]; readonly rule: string } | undefined {
  // When it is first needed: most applications have no policy file, and compiling takes milliseconds.
  validate ??= compileValidator(SCHEMA);
  if (validate(value)) return undefined;
  const error = validate.errors?.find(({ keyword }) => !WRAPPERS.has(keyword));
  if (!error) return { steps: [], rule: `must be ${SCHEMA.description}` };
  const steps = pointerSteps(error.instancePath);
  if (error.propertyName === undefined) return { steps, rule: ruleOf(error) };
  const allowed = (error.params as { allowedValues: string[] }).allowedValues;
  return { steps: [...steps, error.propertyName], rule: `is unknown; allowed are ${allowed.join(', ')}` };
}

function ruleOf({ keyword, params, schemaPath }: ErrorObject): string {
  if (keyword === 'required') return `lacks ${(params as { missingProperty: string }).missingProperty}`;
  let schema: unknown = SCHEMA;
  let description: unknown;
  for (const step of pointerSteps(schemaPath)) {
    description = (schema as { description?: string }).description ?? description;
    schema = (schema as Record<string, unknown>)[step];
  }
  return `must be ${String(description)}`;
}
