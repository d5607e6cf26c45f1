import type { InputMethod } from '../input-requests.js';

/** Where `@OnElicitation`, `@OnSampling` and `@OnRoots` keep their options. */
const CLIENT_INPUT_METADATA = 'nestjs-mcp:client-inputs';

/** One declaration, as the decorators store it. */
export interface InputMetadata {
  readonly method: InputMethod;
  /** Name of the client. */
  readonly client: string;
}

/**
 * Makes a provider's method answer what the server behind a client asks of the user. The method is called with the
 * request's params and an `InputRequestContext`, and returns an `ElicitResult`. The client then declares the capability
 * `elicitation`, for forms unless its `capabilities` say more.
 *
 * Specification: client/elicitation.
 * @param client name of the client
 */
export const OnElicitation = (client: string): MethodDecorator => declared('elicitation/create', client);

/**
 * Makes a provider's method answer what the server behind a client asks of a language model. The method is called with
 * the request's params and an `InputRequestContext`, and returns a `CreateMessageResult`. The client then declares the
 * capability `sampling`.
 *
 * Specification: client/sampling.
 * @param client name of the client
 */
export const OnSampling = (client: string): MethodDecorator => declared('sampling/createMessage', client);

/**
 * Makes a provider's method tell the server behind a client which folders it may work in. The method is called with the
 * request's params and an `InputRequestContext`, and returns a `ListRootsResult`. The client then declares the
 * capability `roots`.
 *
 * Specification: client/roots.
 * @param client name of the client
 */
export const OnRoots = (client: string): MethodDecorator => declared('roots/list', client);

/** A method may carry several declarations, for several clients. */
function declared(method: InputMethod, client: string): MethodDecorator {
  return (target, key, descriptor) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(key)}: a static method cannot answer a server; remove "static" and list ${target.name} in providers`,
      );
    }
    const handler = descriptor.value as object;
    Reflect.defineMetadata(CLIENT_INPUT_METADATA, [{ method, client }, ...readInputs(handler)], handler);
  };
}

export const readInputs = (method: object): readonly InputMetadata[] =>
  (Reflect.getMetadata(CLIENT_INPUT_METADATA, method) ?? []) as InputMetadata[];
