import { declareInterceptor } from './interceptor-metadata.js';
import type { ValidatorOptions } from './interceptor-options.js';

/**
 * Makes a provider's method a validator: it inspects a payload and returns a decision – a boolean, `allow()`, `deny(…)`, a list of those, or a full
 * `ValidationResult`. Returning nothing is a failure, not a pass.
 *
 * Specification: SEP-2624, interceptors.
 */
export const Validator = (options: ValidatorOptions): MethodDecorator =>
  declareInterceptor({ type: 'validation', options });
