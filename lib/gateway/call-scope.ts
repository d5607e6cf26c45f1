import { AsyncLocalStorage } from 'node:async_hooks';
import type { Call } from './call.js';

/** The client's request that the running code talks to a backend for. */
export interface CallScope {
  readonly call?: Call;
  /** The ids of the gateways that the request went through before this one. */
  readonly via: readonly string[];
}

/**
 * Over HTTP, the messages on the stream of a request are read in the async context of that request. The SDK's client does
 * not say on which stream a message came, so this is the only way to find the call that it belongs to.
 */
export const callScope = new AsyncLocalStorage<CallScope>();
