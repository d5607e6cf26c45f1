import { ENTRY_PROVIDER_WATERMARK } from './metadata.js';

/**
 * @param what names the decorated method in messages
 * @throws TypeError for a static method
 */
export function declareOnMethod<T>(metadataKey: string, declaration: T, what: string): MethodDecorator {
  return (target, key, descriptor) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(key)}: a static method cannot be ${what}; remove "static" and list ${target.name} in providers`,
      );
    }
    const method = descriptor.value as object;
    const declared = (Reflect.getOwnMetadata(metadataKey, method) ?? []) as T[];
    Reflect.defineMetadata(metadataKey, [declaration, ...declared], method);
    // Nest attaches request-scoped global enhancers to controllers and "entry providers" only.
    Reflect.defineMetadata(ENTRY_PROVIDER_WATERMARK, true, target.constructor);
  };
}
