import type {
  InterceptorMetadata,
  MutatorOptions,
  SinkOptions,
  ValidatorOptions,
} from './decorator-options.js';
import { declareOnMethod } from '../../decorators/method-metadata.js';

/** Where `@Validator`, `@Mutator` and `@Sink` keep their options. */
export const INTERCEPTOR_METADATA = 'nestjs-mcp:interceptors';

/** Without options it hooks nothing, which the bootstrap reports. */
const declareInterceptor = (
  type: InterceptorMetadata['type'],
  options: InterceptorMetadata['options'] | null | undefined,
): MethodDecorator =>
  declareOnMethod(INTERCEPTOR_METADATA, { type, options: options ?? {} }, 'an interceptor');

/**
 * Makes a provider's method a validator: it inspects a payload and returns a decision: a boolean, `allow()`, `deny(…)`, a
 * list of these, or a full `ValidationResult`. Returning nothing is a failure, not a pass.
 *
 * Specification: SEP-2624, interceptors.
 */
export const Validator = (options: ValidatorOptions): MethodDecorator =>
  declareInterceptor('validation', options);

/**
 * Makes a provider's method a mutator: it returns the payload that is to go on, `undefined` to leave it alone,
 * `{ modified, payload, info }`, or `respondWith(result)`. The payload it is given is read-only.
 *
 * Specification: SEP-2624, interceptors.
 */
export const Mutator = (options: MutatorOptions): MethodDecorator => declareInterceptor('mutation', options);

/**
 * Makes a provider's method a sink: it is told of payloads once they have been decided on. Nobody waits for it, and its
 * failures are logged.
 *
 * Specification: SEP-2624, interceptors.
 */
export const Sink = (options: SinkOptions): MethodDecorator => declareInterceptor('sink', options);
