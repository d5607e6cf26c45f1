import type { InputRequest } from '@modelcontextprotocol/server';
import { branded } from '../../exceptions/branded.js';
import type { TypedInputRequest } from './input-request.js';
import { RoundEnded } from './round-ended.js';

/** The input that the call needs before it can continue: at least one of the two options. */
export interface InputRequiredOptions {
  /** Input requests by their keys. */
  inputRequests?: Readonly<Record<string, TypedInputRequest | InputRequest>>;
  /** A JSON value that the client returns with its next round. Without input requests, the client only calls again. */
  requestState?: unknown;
}

/**
 * Ends a round: the client answers the input requests and calls again (2026-07-28: basic/patterns/mrtr). Handlers, guards
 * and Nest interceptors throw it. It is not an error: filters do not see it, and it is not logged.
 * @example
 * ```ts
 * throw new InputRequiredException({
 *   inputRequests: { region: inputRequest.elicit({ message: 'Where?', schema: RegionDto }) },
 * });
 * ```
 */
export class InputRequiredException extends Error {
  static {
    branded(this, 'InputRequiredException');
  }

  readonly inputRequests: Readonly<Record<string, TypedInputRequest | InputRequest>>;
  readonly requestState: unknown;

  /** @throws TypeError if both are missing, or for an input request under the key `__proto__` */
  constructor({ inputRequests = {}, requestState }: InputRequiredOptions) {
    super('Input is required');
    if (Object.keys(inputRequests).length === 0 && requestState === undefined) {
      throw new TypeError('An InputRequiredException needs inputRequests or a requestState');
    }
    assertKeys(inputRequests);
    this.inputRequests = inputRequests;
    this.requestState = requestState;
  }
}

/** Refuses the key `__proto__`, because the input request would become a prototype. @throws TypeError */
export function assertKeys(inputRequests: object): void {
  if (Object.hasOwn(inputRequests, '__proto__')) {
    throw new TypeError('"__proto__" cannot be the key of an input request');
  }
}

/** Whether a thrown value ends a round instead of reporting an error. */
export const isRoundEnd = (thrown: unknown): boolean =>
  thrown instanceof InputRequiredException || thrown instanceof RoundEnded;
