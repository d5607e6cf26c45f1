import type { InputMethod } from '../protocol/methods.js';

/** Key of the options of `@OnElicitation`, `@OnSampling` and `@OnRoots`. */
const CLIENT_INPUT_METADATA = 'nestjs-mcp:client-inputs';

export interface InputMetadata {
  readonly method: InputMethod;
  readonly client: string;
}

/**
 * The method answers elicitations of the server behind `client`. It gets the params and an `InputRequestContext`, and
 * returns an `ElicitResult`. The client declares the capability `elicitation`, by default for forms.
 * @example
 * ```ts
 * @OnElicitation('billing')
 * confirm(params: ElicitRequest['params']) {
 *   return { action: 'accept', content: { ok: true } };
 * }
 * ```
 */
export const OnElicitation = (client: string): MethodDecorator => declared('elicitation/create', client);

/**
 * The method answers sampling requests of the server behind `client`. It gets the params and an `InputRequestContext`,
 * and returns a `CreateMessageResult`. The client declares the capability `sampling`.
 * @example
 * ```ts
 * @OnSampling('billing')
 * complete(params: CreateMessageRequest['params']) {
 *   return { model: 'small', role: 'assistant', content: { type: 'text', text: 'Paid' } };
 * }
 * ```
 */
export const OnSampling = (client: string): MethodDecorator => declared('sampling/createMessage', client);

/**
 * The method lists the folders that the server behind `client` may work in. It gets the params and an
 * `InputRequestContext`, and returns a `ListRootsResult`. The client declares the capability `roots`.
 * @example
 * ```ts
 * @OnRoots('files')
 * folders() {
 *   return { roots: [{ uri: 'file:///data' }] };
 * }
 * ```
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
