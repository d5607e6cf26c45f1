import { declareInterceptor } from './interceptor-metadata.js';
import type { MutatorOptions } from './interceptor-options.js';

/**
 * Makes a provider's method a mutator: it returns the payload that is to go on, `undefined` to leave it alone,
 * `{ modified, payload, info }`, or `respondWith(result)`. The payload it is given is read-only.
 *
 * Specification: SEP-2624, interceptors.
 */
export const Mutator = (options: MutatorOptions): MethodDecorator =>
  declareInterceptor({ type: 'mutation', options });
