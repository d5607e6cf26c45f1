import type { Chain } from './chain/chain.js';
import type { InvocationContext } from './protocol/types.js';
import type { Abortable } from './chain/deadline.js';
import type { ChainParams } from './chain/params.js';

export interface ChainCaller {
  readonly context: InvocationContext;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface ChainInUse {
  readonly chain: Chain;
  /** Called after the message has been answered. Until then, the hosts of the chain stay open. */
  readonly end?: () => void;
}

/** Provides the chain of each message. It changes with the policy, the remote hosts and the caller. */
export interface ChainSource {
  /** @throws DiscoveryError if a host could not be asked within `timeoutMs`, so that messages never pass unchecked */
  current(call?: Abortable, caller?: () => ChainCaller, timeoutMs?: number): ChainInUse | Promise<ChainInUse>;
}

/**
 * Options of one run. `config`, `timeoutMs` and the checks of payloads and answers default to the server's own.
 *
 * The default of `direction` for events that the server serves is that of its traffic: `tools/call` requests are
 * received. For other events it is that of a call by the application: requests are sent.
 */
export interface RunOptions extends Partial<Omit<ChainParams, 'event' | 'phase' | 'payload' | 'simulate'>> {
  /** The server whose chain runs. Default: the first server. */
  server?: string;
}
