import { declareInput } from './input-metadata.js';

/**
 * Makes a provider's method answer what the server behind a client asks of the user. The method is called with the
 * request's params and an `InputRequestContext`, and returns an `ElicitResult`. The client then declares the capability
 * `elicitation`, for forms unless its `capabilities` say more.
 *
 * Specification: client/elicitation.
 * @param client name of the client
 */
export const OnElicitation = (client: string): MethodDecorator =>
  declareInput({ method: 'elicitation/create', client });

/**
 * Makes a provider's method answer what the server behind a client asks of a language model. The method is called with
 * the request's params and an `InputRequestContext`, and returns a `CreateMessageResult`. The client then declares the
 * capability `sampling`.
 *
 * Specification: client/sampling.
 * @param client name of the client
 */
export const OnSampling = (client: string): MethodDecorator =>
  declareInput({ method: 'sampling/createMessage', client });

/**
 * Makes a provider's method tell the server behind a client which folders it may work in. The method is called with the
 * request's params and an `InputRequestContext`, and returns a `ListRootsResult`. The client then declares the
 * capability `roots`.
 *
 * Specification: client/roots.
 * @param client name of the client
 */
export const OnRoots = (client: string): MethodDecorator => declareInput({ method: 'roots/list', client });
