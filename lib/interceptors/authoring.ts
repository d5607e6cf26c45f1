import { type ChainResult, type Invocation, SyntheticResponse } from './chain/result.js';
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
 * The argument of an interceptor's method. `InterceptorInvocation<'tools/call', 'request'>` knows its payload from the event;
 * `InterceptorInvocation<CallToolParams>` names it.
 */
export type InterceptorInvocation<E = unknown, P extends Phase = Phase> = Omit<
  Invocation,
  'payload' | 'request' | 'event' | 'phase'
> & {
  readonly event: E extends string ? E : string;
  readonly phase: P;
  readonly payload: E extends InterceptionEvent ? PayloadOf<E, P> : E;
  readonly request: E extends InterceptionEvent ? PayloadOf<E, 'request'> | undefined : unknown;
  readonly report?: ChainResult;
};

/** A validator's objection, as `deny` makes it. */
export interface Denial extends ValidationMessage {
  /** Corrections, by the path of what they correct. */
  readonly suggestions?: readonly { readonly path: string; readonly value: unknown }[];
}

/** What a validator's method may return; anything else is a failure of the validator. */
export type ValidatorReturn =
  | boolean
  | Denial
  | readonly Denial[]
  | (Pick<ValidationResult, 'valid'> & Partial<Omit<ValidationResult, 'valid'>>);

/** What a mutator's method may return: nothing (unmodified), the new payload, a full result, or `respondWith(…)`. */
export type MutatorReturn =
  | undefined
  | (Pick<MutationResult, 'modified' | 'payload'> & Partial<Omit<MutationResult, 'modified' | 'payload'>>)
  | SyntheticResponse
  | object;

export interface DenyOptions {
  /** Path of the offending value, such as `arguments.city`. */
  path?: string;
  /** `error` blocks; `warn` and `info` only tell. Default: `error`. */
  severity?: Severity;
  suggestions?: { path: string; value: unknown }[];
}

/**
 * A validator's consent, without a message; `true` says the same.
 * @example
 * ```ts
 * return isClean(payload) ? allow() : deny('A secret was found');
 * ```
 */
export const allow = (): ValidatorReturn => ({ valid: true });

/**
 * A validator's objection. Return several in a list.
 * @param message for the caller; leave the secret out of it
 * @example
 * ```ts
 * return deny('At most 100', { path: 'arguments.amount', suggestions: [{ path: 'arguments.amount', value: 100 }] });
 * ```
 */
export const deny = (message: string, { path, severity = 'error', suggestions }: DenyOptions = {}): Denial =>
  defined({ message, severity, path, suggestions });

/**
 * A request-phase mutator answers the call with this result, in place of the handler and its guards, pipes and Nest
 * interceptors. The result is marked as synthetic in `_meta`, and the response phase runs on it.
 * @example
 * ```ts
 * return respondWith({ content: [{ type: 'text', text: 'From the cache' }] });
 * ```
 */
export const respondWith = (result: object): SyntheticResponse => new SyntheticResponse(result);
