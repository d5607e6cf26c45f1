import type { InputRequest } from '@modelcontextprotocol/server';
import type { InputQuestion } from './input-request.js';
import { RoundEnded } from './round-ended.js';

/** What a call needs before it can go on. At least one of the two. */
export interface InputRequiredOptions {
  /** Questions by their keys. */
  inputRequests?: Readonly<Record<string, InputQuestion | InputRequest>>;
  /**
   * JSON that comes back with the client's next round, and from nobody else: `ctx.requestState()`. On its own it only asks
   * the client to call again.
   */
  requestState?: unknown;
}

/**
 * Ends a round of a tool, prompt or resource: the client answers the questions and calls again
 * (2026-07-28: basic/patterns/mrtr). A handler throws it, or a guard or Nest interceptor in front of one. It is no error:
 * exception filters do not see it, and it is not logged.
 */
export class InputRequiredException extends Error {
  /** Questions by their keys; empty where it only asks to be called again. */
  readonly inputRequests: Readonly<Record<string, InputQuestion | InputRequest>>;
  /** What comes back with the client's next round; undefined where nothing does. */
  readonly requestState: unknown;

  /** @throws TypeError without anything to ask or to remember, or for a question under the key `__proto__` */
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

/**
 * Assigned to an object under that key, a question would become its prototype.
 * @throws TypeError
 */
export function assertKeys(inputRequests: object): void {
  if (Object.hasOwn(inputRequests, '__proto__')) {
    throw new TypeError('"__proto__" cannot be the key of a question');
  }
}

/** Whether something that was thrown is no error, but how a round ends. */
export const isRoundEnd = (thrown: unknown): boolean =>
  thrown instanceof InputRequiredException || thrown instanceof RoundEnded;
