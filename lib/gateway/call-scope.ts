import { AsyncLocalStorage } from 'node:async_hooks';
import type { Call } from './call.js';

/** On whose behalf the code that runs now talks to a backend. */
export interface CallScope {
  /** The call, if it is one. */
  readonly call?: Call;
  /** The gateways that the request went through, this one not among them. */
  readonly via: readonly string[];
}

/**
 * Over HTTP, whatever a backend sends on the stream of a request is read in the context in which the request was sent:
 * the only way to tell whose it is, for the SDK's client does not say on which stream something came.
 */
export const callScope = new AsyncLocalStorage<CallScope>();
