import { AsyncLocalStorage } from 'node:async_hooks';
import type { Call } from './call.js';

export interface CallScope {
  readonly call?: Call;
  /** The ids of the gateways that the request has passed. */
  readonly via: readonly string[];
}

/** The SDK's client does not say on which stream a message came; only the async context links it to its request. */
export const callScope = new AsyncLocalStorage<CallScope>();
