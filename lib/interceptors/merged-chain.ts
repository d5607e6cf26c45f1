import { unlessAborted } from '../client/unless-aborted.js';
import { Chain } from './chain/chain.js';
import type { ChainEntry } from './chain/entry.js';
import type { ChainOptions } from './chain/params.js';
import type { ChainCaller, ChainSource } from './chain-source.js';
import { DiscoveryError, type RemoteHost } from './hosts/remote-host.js';
import { unknownNames, withOverrides, type Policy } from './overrides.js';

export interface MergedChainParts {
  /** This process's own. */
  readonly local: readonly ChainEntry[];
  readonly hosts: readonly RemoteHost[];
  /** Chooses further hosts for a message. */
  readonly hostsFor?: (caller: ChainCaller) => Promise<readonly RemoteHost[]>;
  readonly policy: Policy;
  readonly options: ChainOptions;
  readonly warn: (message: string) => void;
}

interface Built {
  readonly from: readonly (readonly ChainEntry[])[];
  readonly chain: Chain;
}

/** How many chains are kept ready; one that is not is put together anew. */
const MAX_CHAINS = 100;

/** One chain of this process's interceptors and those of remote hosts, made anew when either changes. */
export class MergedChain implements ChainSource {
  private policy: Policy;
  /** By the hosts they are of: callers can have chains of their own. */
  private readonly built = new Map<string, Built>();
  private warned = '';

  /**
   * @throws PolicyMismatchError for a configuration, OverrideError for hooks, that a local interceptor does not admit
   */
  constructor(private readonly parts: MergedChainParts) {
    this.policy = parts.policy;
    this.check(parts.policy);
  }

  /** Puts another policy in force, from the next message on. What cannot be is thrown, and the old one stays. */
  apply(policy: Policy): void {
    this.check(policy);
    this.policy = policy;
    this.built.clear();
  }

  current(signal?: AbortSignal, caller?: () => ChainCaller): Chain | Promise<Chain> {
    const { hosts, hostsFor } = this.parts;
    return hostsFor && caller ? this.forCaller(hostsFor, caller(), signal) : this.over(hosts, signal);
  }

  private async forCaller(
    hostsFor: NonNullable<MergedChainParts['hostsFor']>,
    caller: ChainCaller,
    signal?: AbortSignal,
  ): Promise<Chain> {
    // Nobody is asked on behalf of a caller that is gone.
    signal?.throwIfAborted();
    const chosen = hostsFor(caller);
    const hosts = [...this.parts.hosts, ...(await (signal ? unlessAborted(chosen, signal) : chosen))];
    const names = new Set(hosts.map(({ name }) => name));
    if (names.size < hosts.length)
      throw new DiscoveryError('Two hosts of one name were chosen for a message');
    return this.over(hosts, signal);
  }

  private over(hosts: readonly RemoteHost[], signal?: AbortSignal): Chain | Promise<Chain> {
    const known = hosts.map(host => host.known);
    if (known.every(entries => entries !== undefined)) return this.build(hosts, known);
    return Promise.all(hosts.map(host => host.entries(signal))).then(found => this.build(hosts, found));
  }

  private build(hosts: readonly RemoteHost[], remote: readonly (readonly ChainEntry[])[]): Chain {
    const key = hosts.length === 0 ? '' : JSON.stringify(hosts.map(({ id }) => id));
    const built = this.built.get(key);
    if (built?.from.every((entries, index) => entries === remote[index])) return built.chain;
    const chain = this.chainOf(remote.flat(), this.policy);
    if (this.built.size >= MAX_CHAINS) this.built.clear();
    this.built.set(key, { from: remote, chain });
    return chain;
  }

  private chainOf(remote: readonly ChainEntry[], policy: Policy): Chain {
    const entries = [...this.parts.local, ...remote];
    this.warnOfUnknown(entries, policy);
    try {
      return new Chain(withOverrides(entries, policy), this.parts.options);
    } catch (error) {
      throw new DiscoveryError((error as Error).message);
    }
  }

  /** What can be known of a policy before any host has been asked. */
  private check(policy: Policy): void {
    const { local, hosts } = this.parts;
    const listed = hosts.flatMap(host => host.known ?? []);
    new Chain(withOverrides([...local, ...listed], policy));
    const [unknown] = hosts.length === 0 && !this.parts.hostsFor ? unknownNames(local, policy) : [];
    if (unknown === undefined) return;
    const known = local.map(({ descriptor }) => descriptor.name).join(', ') || 'none';
    throw new Error(
      `the policy names "${unknown}", which is no interceptor of this server; there are ${known}`,
    );
  }

  private warnOfUnknown(entries: readonly ChainEntry[], policy: Policy): void {
    const unknown = unknownNames(entries, policy).join(', ');
    if (unknown !== '' && unknown !== this.warned) {
      this.parts.warn(`The policy names ${unknown}, which neither this application nor a host has`);
    }
    this.warned = unknown;
  }
}
