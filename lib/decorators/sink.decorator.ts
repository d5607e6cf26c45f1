import { declareInterceptor } from './interceptor-metadata.js';
import type { SinkOptions } from './interceptor-options.js';

/**
 * Makes a provider's method a sink: it is told of payloads once they have been decided on. Nobody waits for it, and its failures are logged.
 *
 * Specification: SEP-2624, interceptors.
 */
export const Sink = (options: SinkOptions): MethodDecorator => declareInterceptor({ type: 'sink', options });
