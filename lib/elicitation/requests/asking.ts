import type { McpCall } from '../../protocol/mcp-call.js';
import { mayAsk } from '../../protocol/methods.js';
import type { TypedInputRequest } from './input-request.js';
import type { Jsonify } from './jsonify.js';

/** Lets a handler ask its client during a call. Its values stay the same in all rounds of the call. */
export interface Asking {
  /** Identifies the call across all its rounds. */
  readonly id: string;
  /** The number of earlier rounds. */
  readonly number: number;
  readonly isReplaying: boolean;
  /** The `requestState` of the latest `InputRequiredException`. */
  readonly state: unknown;
  /** Asks the client, or returns the client's earlier answer. */
  ask<A>(key: string, make: () => TypedInputRequest<A>): Promise<A>;
  /** Runs the work once in all rounds of the call, and keeps its result as JSON. */
  step<T>(key: string, work: () => T | Promise<T>): Promise<Jsonify<T>>;
  now(): number;
  uuid(): string;
  random(): number;
}

/** The `Asking` of a call, created on first use, because most calls ask nothing. */
export interface CurrentAsking {
  /** Undefined until the handler uses it. */
  readonly ifAny: Asking | undefined;
  begin(): Asking;
}

/** Whether the handler of a call can ask the client, by rounds or over a connection that carries requests. */
export const canAsk = ({ method, era, reply }: McpCall): boolean =>
  mayAsk(method) && (era === 'modern' || reply.ask !== undefined);

/** Lets a round observe the handler's own method. */
export interface HandlerRound {
  /** Called before the method runs, and again if a Nest interceptor retries it. Returns false if it must not run. */
  enter(): boolean;
  /** Runs the method, and observes its outcome. */
  watch(handler: () => unknown): unknown;
  /** What the call has recorded, as JSON, to continue it in another process. */
  record(): unknown;
}
