import type { ChainEntry } from './chain/entry.js';
import type { ChainSource } from './chain-source.js';
import type { Policy } from './overrides.js';
import type { RemoteHost } from './remote/remote-host.js';

/** The chain of a server or a client, with what it is made of. */
export interface LocalChainSource extends ChainSource {
  /** This process's own interceptors, with the policy that is in force; another list once another one is. */
  readonly local: readonly ChainEntry[];
  /** The policy that is in force: what the options say, then what the policy file says. */
  readonly policy: Policy;
  /** The remote hosts that are the same for all callers. */
  readonly hosts: readonly RemoteHost[];
  onChange(listener: () => void): void;
}
