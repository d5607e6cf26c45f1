import { Chain } from './chain/chain.js';
import { type ChainEntry, type InterceptorOverride, resolvedDescriptor } from './chain/entry.js';
import type { ChainOptions, ChainParams } from './chain/params.js';
import type { ChainResult } from './chain/result.js';
import type { ChainInUse, ChainSource } from './chain-source.js';
import type { InterceptorHost } from './remote/host-options.js';
import { remoteHost } from './remote/open-host.js';
import { DiscoveryError, type RemoteHost } from './remote/remote-host.js';
import { executeIn, inTime } from './merged-chain.js';
import { withOverrides } from './overrides.js';
import { shapeProblemOf } from './common-options.js';
import { pathOf } from '../options/check-options.js';
import type { InterceptorDescriptor } from './protocol/types.js';

/** Options of `InterceptorChain.discover`: deadlines of an interceptor in milliseconds, overrides, and a log. */
export interface DiscoverOptions extends Pick<ChainOptions, 'defaultTimeoutMs' | 'maxTimeoutMs'> {
  /** Overrides by `name` or `host/name`. */
  overrides?: Record<string, InterceptorOverride>;
  /** Cancels the discovery. */
  signal?: AbortSignal;
  /** Receives warnings about unusable interceptors of a host, and about failed sinks. Default: none. */
  warn?: (message: string) => void;
}

/** An interceptor of a chain, and the host that runs it. */
export interface InterceptorChainEntry {
  readonly host: string;
  /**
   * The descriptor that the host advertised, with the overrides applied, and without fields that hold their default.
   */
  readonly descriptor: InterceptorDescriptor;
}

/**
 * The interceptors of several hosts as one chain, with one order for all of them (SEP-2624).
 * @example
 * ```ts
 * const chain = await InterceptorChain.discover([{ name: 'privacy', client }]);
 * const { status } = await chain.execute({ event: 'llm/completion', phase: 'request', direction: 'send', payload });
 * chain.close();
 * ```
 */
export class InterceptorChain implements ChainSource {
  /** The advertised interceptors, in the order of the given hosts. */
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
   * Lists the interceptors of all hosts, with all pages.
   * @throws DiscoveryError if a host without `skipWhenUnlisted` cannot be listed, Error for a wrong override
   */
  static async discover(
    hosts: readonly InterceptorHost[],
    { overrides = {}, signal, warn = () => undefined, ...limits }: DiscoverOptions = {},
  ): Promise<InterceptorChain> {
    const problem = shapeProblemOf({ overrides, config: {} });
    if (problem) throw new Error(`"${pathOf(problem.steps)}" ${problem.rule}`);
    const names = new Set(hosts.map(({ name }) => name));
    if (names.size < hosts.length)
      throw new DiscoveryError('Two hosts have the same name; give each host its own name');
    const remotes = hosts.map(host => remoteHost(host, { warn }));
    try {
      const found = await Promise.all(remotes.map(host => host.entries(signal)));
      return new InterceptorChain(
        withOverrides(found.flat(), { overrides: [overrides], config: [] }),
        remotes,
        {
          ...limits,
          observeSink:
            ({ name }) =>
            end => {
              if ('error' in end) warn(`The sink ${name} failed: ${end.error}`);
            },
        },
      );
    } catch (error) {
      for (const host of remotes) void host.close();
      throw error;
    }
  }

  /**
   * Discovers the hosts, and runs their chain once. `timeoutMs` limits both together.
   * @throws DiscoveryError if a host without `skipWhenUnlisted` cannot be listed
   */
  static async execute(
    hosts: readonly InterceptorHost[],
    params: ChainParams,
    options: DiscoverOptions = {},
  ): Promise<ChainResult> {
    const discover: ChainSource['current'] = (call, _caller, timeoutMs) =>
      inTime(timeoutMs, call?.signal, async within => {
        const signals = [within, options.signal].filter(one => one !== undefined);
        const given = signals.length > 0 && { signal: AbortSignal.any(signals) };
        const chain = await InterceptorChain.discover(hosts, { ...options, ...given });
        return { chain: chain.chain, end: () => chain.close() };
      });
    return executeIn({ current: discover }, params);
  }

  /**
   * Runs the chain on a message, without listing hosts again.
   * @throws Error for an unknown name in `interceptors`
   */
  execute(params: ChainParams): Promise<ChainResult> {
    return this.chain.execute(params);
  }

  /** `InterceptingMcpClient` calls it for each message. Applications call `execute`. */
  current(): ChainInUse {
    return { chain: this.chain };
  }

  /** Stops watching the hosts. Their clients stay open, because they belong to the application. */
  close(): void {
    for (const host of this.hosts) void host.close();
  }
}
