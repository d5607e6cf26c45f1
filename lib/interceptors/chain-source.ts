import type { Chain } from './chain/chain.js';
import type { ChainEntry } from './chain/entry.js';
import type { InvocationContext } from './protocol/types.js';

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

export interface LocalChainSource extends ChainSource {
  /** This process's own interceptors, with the policy that is in force; another list once another one is. */
  readonly local: readonly ChainEntry[];
  onChange(listener: () => void): void;
}
