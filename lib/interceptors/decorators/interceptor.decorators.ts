import type {
  InterceptorMetadata,
  MutatorOptions,
  SinkOptions,
  ValidatorOptions,
} from './decorator-options.js';
import { declareOnMethod } from '../../decorators/metadata.js';

/** Where `@Validator`, `@Mutator` and `@Sink` keep their options. */
export const INTERCEPTOR_METADATA = 'nestjs-mcp:interceptors';

/** An interceptor without options hooks nothing; the bootstrap reports it. */
const declareInterceptor = (
  type: InterceptorMetadata['type'],
  options: InterceptorMetadata['options'] | null | undefined,
): MethodDecorator =>
  declareOnMethod(INTERCEPTOR_METADATA, { type, options: options ?? {} }, 'an interceptor');

/**
 * Makes a provider's method a validator (SEP-2624). It returns a boolean, `allow()`, `deny(…)`, a list of these, or a
 * `ValidationResult`. Returning nothing is a failure.
 */
export const Validator = (options: ValidatorOptions): MethodDecorator =>
  declareInterceptor('validation', options);

/**
 * Makes a provider's method a mutator (SEP-2624). It returns the new payload, `undefined` to keep it,
 * `{ modified, payload, info }`, or `respondWith(result)`. Its payload is read-only.
 */
export const Mutator = (options: MutatorOptions): MethodDecorator => declareInterceptor('mutation', options);

/**
 * Makes a provider's method a sink (SEP-2624). It gets payloads after the decision. Calls do not wait for it, and its
 * failures are logged.
 */
export const Sink = (options: SinkOptions): MethodDecorator => declareInterceptor('sink', options);
