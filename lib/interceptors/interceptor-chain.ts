import { Chain } from './chain/chain.js';
import { type ChainEntry, resolvedDescriptor } from './chain/entry.js';
import type { ChainOptions, ChainParams } from './chain/params.js';
import type { ChainResult } from './chain/result.js';
import type { ChainInUse, ChainSource } from './chain-source.js';
import type { InterceptorHost } from './remote/host-options.js';
import { remoteHost } from './remote/open-host.js';
import { DiscoveryError, type RemoteHost } from './remote/remote-host.js';
import { executeIn, inTime } from './merged-chain.js';
import type { InterceptorOverride } from './interceptor-options.js';
import { withOverrides } from './overrides.js';
import { shapeProblemOf } from './common-options.js';
import { pathOf } from './policy/policy-error.js';
import type { InterceptorDescriptor } from './protocol/types.js';

/** Options of `InterceptorChain.discover`: time limits of an interceptor in milliseconds, overrides, and a log. */
export interface DiscoverOptions extends Pick<ChainOptions, 'defaultTimeoutMs' | 'maxTimeoutMs'> {
  /** By `name` or `host/name`. */
  overrides?: Record<string, InterceptorOverride>;
  /** Gives the discovery up. */
  signal?: AbortSignal;
  /** Told of what a host advertises that cannot be used, and of sinks that failed. Default: nobody. */
  warn?: (message: string) => void;
}

/** An interceptor of a chain, and the host that runs it. */
export interface InterceptorChainEntry {
  readonly host: string;
  /** As the host advertised it, with the overrides, and without what holds its default. */
  readonly descriptor: InterceptorDescriptor;
}

/**
 * The interceptors of several hosts as one chain: one order over all of them (SEP-2624).
 * @example
 * ```ts
 * const chain = await InterceptorChain.discover([{ name: 'privacy', client }]);
 * const { status } = await chain.execute({ event: 'llm/completion', phase: 'request', direction: 'send', payload });
 * chain.close();
 * ```
 */
export class InterceptorChain implements ChainSource {
  /** What the hosts advertised, in the order in which the hosts were given. */
  readonly entries: readonly InterceptorChainEntry[];
  private readonly chain: Chain;

  private constructor(
    entries: readonly ChainEntry[],
    private readonly hosts: readonly RemoteHost[],
    options: ChainOptions,
  ) {
    this.chain = new Chain(entries, options);
    this.entries = this.chain.entries.map(entry => ({
      host: entry.host,
      descriptor: resolvedDescriptor(entry),
    }));
  }

  /**
   * Lists all hosts, all pages.
   * @throws DiscoveryError if a host without `skipWhenUnlisted` cannot be listed, OverrideError or Error for a wrong override
   */
  static async discover(
    hosts: readonly InterceptorHost[],
    { overrides = {}, signal, warn = () => undefined, ...limits }: DiscoverOptions = {},
  ): Promise<InterceptorChain> {
    const problem = shapeProblemOf({ overrides, config: {} });
    if (problem) throw new Error(`"${pathOf(problem.steps)}" ${problem.rule}`);
    const names = new Set(hosts.map(({ name }) => name));
    if (names.size < hosts.length) throw new DiscoveryError('Two hosts have the same name');
    const remotes = hosts.map(host => remoteHost(host, { warn }));
    try {
      const found = await Promise.all(remotes.map(host => host.entries(signal)));
      return new InterceptorChain(
        withOverrides(found.flat(), { overrides: [overrides], config: [] }),
        remotes,
        {
          ...limits,
          onSinkError: ({ name }, error) => warn(`The sink ${name} failed: ${error}`),
        },
      );
    } catch (error) {
      for (const host of remotes) host.close();
      throw error;
    }
  }

  /**
   * Discovers, and runs once. `timeoutMs` bounds both.
   * @throws DiscoveryError if a host without `skipWhenUnlisted` cannot be listed
   */
  static async execute(
    hosts: readonly InterceptorHost[],
    params: ChainParams,
    options: DiscoverOptions = {},
  ): Promise<ChainResult> {
    const discover: ChainSource['current'] = (signal, _caller, timeoutMs) =>
      inTime(timeoutMs, signal, async within => {
        const signals = [within, options.signal].filter(one => one !== undefined);
        const given = signals.length > 0 && { signal: AbortSignal.any(signals) };
        const chain = await InterceptorChain.discover(hosts, { ...options, ...given });
        return { chain: chain.chain, end: () => chain.close() };
      });
    return executeIn({ current: discover }, params);
  }

  /**
   * Runs the chain on a message, without listing hosts again.
   * @throws UnknownInterceptorError for an unknown name in `interceptors`
   */
  execute(params: ChainParams): Promise<ChainResult> {
    return this.chain.execute(params);
  }

  /** What `InterceptingMcpClient` asks for at each message. Applications call `execute`. */
  current(): ChainInUse {
    return { chain: this.chain };
  }

  /** Ends what watches over the hosts. Their clients stay open: they are the application's. */
  close(): void {
    for (const host of this.hosts) host.close();
  }
}
