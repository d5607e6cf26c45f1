import type { McpCall } from '../protocol/mcp-call.js';
import { METHODS } from '../protocol/methods.js';
import type { InputQuestion } from './input-request.js';
import type { Jsonify } from './jsonify.js';

/** How a handler asks its client in the middle of a call, and what stays the same in all rounds of the call. */
export interface Asking {
  /** Identifies the call over all its rounds. */
  readonly id: string;
  /** How many rounds came before. */
  readonly number: number;
  readonly isReplaying: boolean;
  /** The `requestState` of the latest `InputRequiredException`. */
  readonly state: unknown;
  /** Asks the client, or returns what it answered before. */
  ask<A>(key: string, make: () => InputQuestion<A>): Promise<A>;
  /** Runs something once in all rounds of the call, and remembers what came out, as JSON. */
  step<T>(key: string, work: () => T | Promise<T>): Promise<Jsonify<T>>;
  now(): number;
  uuid(): string;
  random(): number;
}

/** The `Asking` of a call, which is made once the handler has something to do with it: most calls ask nothing. */
export interface CurrentAsking {
  /** Undefined if the handler has not used it yet. */
  readonly ifAny: Asking | undefined;
  begin(): Asking;
}

/** Whether a call's handler can ask the client: in its own rounds, or on a connection that carries requests. */
export const canAsk = ({ method, era, reply }: McpCall): boolean =>
  METHODS.get(method)?.canAsk === true && (era === 'modern' || reply.ask !== undefined);
