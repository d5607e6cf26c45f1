import type { Chain } from './chain/chain.js';
import type { InvocationContext } from './protocol/types.js';
import type { ChainParams } from './chain/params.js';

export interface ChainCaller {
  readonly context: InvocationContext;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface ChainInUse {
  readonly chain: Chain;
  /** To be called once the message has been answered: until then, none of the chain's hosts is closed. */
  readonly end?: () => void;
}

/** Gives each message its chain, which changes with the policy, the remote hosts and the caller. */
export interface ChainSource {
  /** @throws DiscoveryError if a host could not be asked within `timeoutMs`: no message passes unchecked */
  current(
    signal?: AbortSignal,
    caller?: () => ChainCaller,
    timeoutMs?: number,
  ): ChainInUse | Promise<ChainInUse>;
}

/**
 * Options of one run. `config`, `timeoutMs` and the checks of payloads and answers default to the server's own. By
 * default, `direction` is that of the server's traffic for events that it serves: `tools/call` requests are received.
 * For other events it is that of a call which the application makes: requests are sent.
 */
export interface RunOptions extends Partial<Omit<ChainParams, 'event' | 'phase' | 'payload' | 'simulate'>> {
  /** The server whose chain it is. Default: the first one. */
  server?: string;
}
