import { ENTRY_PROVIDER_WATERMARK, HANDLER_METADATA } from '../constants.js';
import type { HandlerMetadata } from './handler-options.js';

/** Adds one handler declaration to a method; a method may carry several. */
export function declareHandler(metadata: HandlerMetadata): MethodDecorator {
  return (target, key, descriptor) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(key)}: a static method cannot be an MCP handler; remove "static" and list ${target.name} in providers`,
      );
    }
    const method = descriptor.value as object;
    const declared = (Reflect.getOwnMetadata(HANDLER_METADATA, method) ?? []) as HandlerMetadata[];
    Reflect.defineMetadata(HANDLER_METADATA, [metadata, ...declared], method);
    // Nest attaches request-scoped global guards, pipes, … to controllers and "entry providers" only.
    Reflect.defineMetadata(ENTRY_PROVIDER_WATERMARK, true, target.constructor);
  };
}
