import { ENTRY_PROVIDER_WATERMARK, INTERCEPTOR_METADATA } from '../constants.js';
import type { InterceptorMetadata } from './interceptor-options.js';

/** Adds an interceptor's declaration to a method; a method may carry several. */
export function declareInterceptor({
  type,
  options,
}: {
  type: InterceptorMetadata['type'];
  options: InterceptorMetadata['options'] | null | undefined;
}): MethodDecorator {
  // Without options it hooks nothing, of which the bootstrap says more than a decorator could.
  const metadata: InterceptorMetadata = { type, options: options ?? {} };
  return (target, key, descriptor) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(key)}: a static method cannot be an interceptor; remove "static" and list ${target.name} in providers`,
      );
    }
    const method = descriptor.value as object;
    const declared = (Reflect.getOwnMetadata(INTERCEPTOR_METADATA, method) ?? []) as InterceptorMetadata[];
    Reflect.defineMetadata(INTERCEPTOR_METADATA, [metadata, ...declared], method);
    Reflect.defineMetadata(ENTRY_PROVIDER_WATERMARK, true, target.constructor);
  };
}
