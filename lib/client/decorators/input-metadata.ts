import { CLIENT_INPUT_METADATA } from '../../constants.js';
import type { InputMethod } from '../input-requests.js';

/** One declaration, as the decorators store it. */
export interface InputMetadata {
  readonly method: InputMethod;
  /** Name of the client. */
  readonly client: string;
}

/** Adds a declaration to a method; a method may carry several, for several clients. */
export function declareInput(metadata: InputMetadata): MethodDecorator {
  return (target, key, descriptor) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(key)}: a static method cannot answer a server; remove "static" and list ${target.name} in providers`,
      );
    }
    const method = descriptor.value as object;
    Reflect.defineMetadata(CLIENT_INPUT_METADATA, [metadata, ...readInputs(method)], method);
  };
}

export const readInputs = (method: object): readonly InputMetadata[] =>
  (Reflect.getMetadata(CLIENT_INPUT_METADATA, method) ?? []) as InputMetadata[];
