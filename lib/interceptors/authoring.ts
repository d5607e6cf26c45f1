import type { Invocation, SinkReport } from './chain/result.js';
import { SyntheticResponse } from './chain/synthetic-response.js';
import type { InterceptionEvent, PayloadOf } from './payloads.js';
import { defined } from '../util/defined.js';
import type {
  MutationResult,
  Phase,
  Severity,
  ValidationMessage,
  ValidationResult,
} from './protocol/types.js';

/**
 * The argument of an interceptor's method. `InterceptorInvocation<'tools/call', 'request'>` derives the type of the
 * payload from the event; `InterceptorInvocation<CallToolParams>` sets it.
 */
export type InterceptorInvocation<E = unknown, P extends Phase = Phase> = Omit<
  Invocation,
  'payload' | 'request' | 'event' | 'phase'
> & {
  readonly event: E extends string ? E : string;
  readonly phase: P;
  readonly payload: E extends InterceptionEvent ? PayloadOf<E, P> : E;
  readonly request: E extends InterceptionEvent ? PayloadOf<E, 'request'> | undefined : unknown;
  /** For a sink: what the chain decided, without payloads. */
  readonly report?: SinkReport;
};

/** A validator's objection; `deny` creates it. */
export interface Denial extends ValidationMessage {
  /** Suggested corrections, each with the path of the value to correct. */
  readonly suggestions?: readonly { readonly path: string; readonly value: unknown }[];
}

/** The return type of a validator's method. Any other value is a failure of the validator. */
export type ValidatorReturn =
  | boolean
  | Denial
  | readonly Denial[]
  | (Pick<ValidationResult, 'valid'> & Partial<Omit<ValidationResult, 'valid'>>);

/** The return type of a mutator's method: nothing (unmodified), the new payload, a full result, or `respondWith(…)`. */
export type MutatorReturn =
  | undefined
  | (Pick<MutationResult, 'modified' | 'payload'> & Partial<Omit<MutationResult, 'modified' | 'payload'>>)
  | SyntheticResponse
  | object;

export interface DenyOptions {
  /** Path of the offending value, such as `arguments.city`. */
  path?: string;
  /** `error` blocks; `warn` and `info` only report. Default: `error`. */
  severity?: Severity;
  suggestions?: { path: string; value: unknown }[];
}

/**
 * A validator's consent, without a message; `true` means the same.
 * @example
 * ```ts
 * return isClean(payload) ? allow() : deny('A secret was found');
 * ```
 */
export const allow = (): ValidatorReturn => ({ valid: true });

/**
 * Creates a validator's objection. Return several objections in a list.
 * @param message for the caller; it must not contain the secret
 * @example
 * ```ts
 * return deny('At most 100', { path: 'arguments.amount', suggestions: [{ path: 'arguments.amount', value: 100 }] });
 * ```
 */
export const deny = (message: string, { path, severity = 'error', suggestions }: DenyOptions = {}): Denial =>
  defined({ message, severity, path, suggestions });

/**
 * Makes a request-phase mutator answer the call with this result, instead of the handler and its guards, pipes and Nest
 * interceptors. The result is marked as synthetic in `_meta`, and the response phase runs on it.
 * @example
 * ```ts
 * return respondWith({ content: [{ type: 'text', text: 'From the cache' }] });
 * ```
 */
export const respondWith = (result: object): SyntheticResponse => new SyntheticResponse(result);
