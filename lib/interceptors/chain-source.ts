import type { Chain } from './chain/chain.js';
import type { ChainEntry } from './chain/entry.js';
import type { InvocationContext } from './protocol/types.js';

/** Whose message it is that a chain is for. */
export interface ChainCaller {
  /** The caller, its session and its trace. */
  readonly context: InvocationContext;
  /** The caller's HTTP headers; none over stdio. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A chain for one message. */
export interface ChainInUse {
  /** The chain, as it stood when the message came. */
  readonly chain: Chain;
  /** To be called once the message has been answered: until then, none of the chain's hosts is closed. */
  readonly end?: () => void;
}

/**
 * Where a boundary takes its chain from, for each message anew: the chain changes while the application runs, with its
 * policy, with what remote hosts advertise, and with who calls.
 */
export interface ChainSource {
  /**
   * The chain as it stands. It is a promise only where somebody has to be asked first.
   * @param timeoutMs bounds the asking
   * @throws DiscoveryError where a host could not be asked, or not in time: nothing may pass unchecked
   */
  current(
    signal?: AbortSignal,
    caller?: () => ChainCaller,
    timeoutMs?: number,
  ): ChainInUse | Promise<ChainInUse>;
}

/** A chain that knows its own part. */
export interface LocalChainSource extends ChainSource {
  /** This process's own interceptors, with the policy that is in force; another list once another one is. */
  readonly local: readonly ChainEntry[];
  /** Calls back whenever the policy for them has changed. */
  onChange(listener: () => void): void;
}
