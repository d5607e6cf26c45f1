import type { Chain } from './chain/chain.js';

/**
 * Where a boundary takes its chain from, for each message anew: the chain changes while the application runs, with its
 * policy and with what remote hosts advertise.
 */
export interface ChainSource {
  /**
   * The chain as it stands. It is a promise only where a remote host has to be asked first.
   * @throws DiscoveryError where a host could not be asked: nothing may pass unchecked
   */
  current(signal?: AbortSignal): Chain | Promise<Chain>;
}
