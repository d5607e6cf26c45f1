import { LRUCache } from 'lru-cache';
import { timeLimit, unlessAborted } from '../util/abort.js';
import { Chain } from './chain/chain.js';
import { namesOf, type ChainEntry } from './chain/entry.js';
import type { Abortable } from './chain/deadline.js';
import type { ChainOptions, ChainParams } from './chain/params.js';
import { passed, type ChainResult } from './chain/result.js';
import type { ChainCaller, ChainInUse, ChainSource } from './chain-source.js';
import { HostLease } from './remote/host-pool.js';
import { DiscoveryError, DiscoveryTimeoutError, type RemoteHost } from './remote/remote-host.js';
import { unknownNames, withOverrides, type Policy } from './overrides.js';
import { answerCheck, isServed, payloadCheck } from './messages/payload-check.js';
import type { InterceptionEvent } from './payloads.js';
import type { Direction, Phase } from './protocol/types.js';

export type HostsFor = (caller: ChainCaller, lease: HostLease) => Promise<readonly RemoteHost[]>;

export interface MergedChainParts {
  readonly local: readonly ChainEntry[];
  readonly hosts: readonly RemoteHost[];
  readonly hostsFor?: HostsFor;
  readonly policy: Policy;
  readonly options: ChainOptions;
  readonly warn: (message: string) => void;
}

interface Built extends ChainInUse {
  readonly from: readonly (readonly ChainEntry[])[];
}

const MAX_CHAINS = 100;

/** Merges this process's interceptors and remote interceptors into one chain. It is rebuilt after each change. */
export class MergedChain implements ChainSource {
  /** This process's own interceptors, with the current policy; another list after each change of the policy. */
  local: readonly ChainEntry[];
  /** The current policy: the options, then the policy file. */
  policy: Policy;
  /** The earlier policy, kept until all hosts have accepted the current policy. */
  private former?: Policy;
  /** Chains by their hosts, because callers may have different hosts. */
  private readonly built = new LRUCache<string, Built>({ max: MAX_CHAINS });
  private warned = '';
  private readonly listeners: (() => void)[] = [];

  /** @throws Error if a local interceptor does not accept the policy */
  constructor(private readonly parts: MergedChainParts) {
    this.policy = parts.policy;
    this.check(parts.policy);
    this.local = withOverrides(parts.local, parts.policy);
  }

  /** The remote hosts that are the same for all callers. */
  get hosts(): readonly RemoteHost[] {
    return this.parts.hosts;
  }

  /**
   * Applies a new policy from the next message on. It throws if the policy is invalid; then the earlier policy stays in
   * force.
   */
  apply(policy: Policy): void {
    this.check(policy);
    this.former ??= this.policy;
    this.enforce(policy);
    this.built.clear();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  current(
    call?: Abortable,
    caller?: () => ChainCaller,
    timeoutMs?: number,
  ): ChainInUse | Promise<ChainInUse> {
    const { hosts, hostsFor } = this.parts;
    if (hostsFor && caller) {
      return inTime(timeoutMs, call?.signal, within => this.forCaller(hostsFor, caller(), within));
    }
    // Without remote hosts, the chain is available at once.
    if (hosts.length === 0) return this.built.get(keyOf(hosts)) ?? this.build(hosts, []);
    const known = hosts.map(host => host.known);
    return known.every(entries => entries !== undefined)
      ? this.build(hosts, known)
      : inTime(timeoutMs, call?.signal, within => this.over(hosts, within));
  }

  private async forCaller(
    hostsFor: HostsFor,
    caller: ChainCaller,
    signal: AbortSignal | undefined,
  ): Promise<ChainInUse> {
    // The caller has disconnected, so no host is asked.
    signal?.throwIfAborted();
    const lease = new HostLease();
    try {
      const chosen = hostsFor(caller, lease);
      const hosts = [...this.parts.hosts, ...(await (signal ? unlessAborted(chosen, signal) : chosen))];
      const names = new Set(hosts.map(({ name }) => name));
      if (names.size < hosts.length)
        throw new DiscoveryError(
          '"interceptors.resolveServers" returned two hosts with the same name; give each host its own name',
        );
      const { chain } = await this.over(hosts, signal);
      return { chain, end: lease.end };
    } catch (error) {
      lease.end();
      throw error;
    }
  }

  private async over(hosts: readonly RemoteHost[], signal: AbortSignal | undefined): Promise<Built> {
    return this.build(hosts, await Promise.all(hosts.map(host => host.entries(signal))));
  }

  private build(hosts: readonly RemoteHost[], remote: readonly (readonly ChainEntry[])[]): Built {
    const key = keyOf(hosts);
    const built = this.built.get(key);
    if (built?.from.every((entries, index) => entries === remote[index])) return built;
    if (this.former) this.settle(this.former, remote.slice(0, this.parts.hosts.length).flat());
    const next = { from: remote, chain: this.chainOf(remote.flat(), this.policy) };
    this.built.set(key, next);
    return next;
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

  /** Restores the earlier policy if the first message after a change shows that a host does not accept it. */
  private settle(former: Policy, remote: readonly ChainEntry[]): void {
    this.former = undefined;
    try {
      new Chain(withOverrides([...this.parts.local, ...remote], this.policy));
    } catch (error) {
      this.enforce(former);
      this.parts.warn(
        `The earlier policy is in force again, because the new one is invalid: ${(error as Error).message}`,
      );
    }
  }

  private enforce(policy: Policy): void {
    this.policy = policy;
    this.local = withOverrides(this.parts.local, policy);
    for (const tell of this.listeners) tell();
  }

  private check(policy: Policy): void {
    const { local, hosts } = this.parts;
    const listed = hosts.flatMap(host => host.lastKnown);
    new Chain(withOverrides([...local, ...listed], policy));
    const [unknown] = hosts.length === 0 && !this.parts.hostsFor ? unknownNames(local, policy) : [];
    if (unknown === undefined) return;
    const known = local.map(entry => namesOf(entry)[0]).join(', ') || 'none';
    throw new Error(
      `the policy names "${unknown}", which is not an interceptor of this server; known are ${known}`,
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

const keyOf = (hosts: readonly RemoteHost[]): string =>
  hosts.length === 0 ? '' : JSON.stringify(hosts.map(({ id }) => id));

/** Asks hosts with a signal that also limits the time, if there is a limit. */
export async function inTime<T>(
  timeoutMs: number | undefined,
  signal: AbortSignal | undefined,
  ask: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return ask(signal);
  const limit = timeLimit(timeoutMs);
  const time = limit.signal;
  try {
    return await ask(signal ? AbortSignal.any([signal, time]) : time);
  } catch (error) {
    if (!time.aborted || error !== time.reason) throw error;
    throw new DiscoveryTimeoutError(`The interceptors were not known within ${timeoutMs} ms`);
  } finally {
    limit.clear();
  }
}

/** Runs a chain once. The deadline covers the listing of its hosts, too. */
export async function executeIn(source: ChainSource, params: ChainParams): Promise<ChainResult> {
  const { event, phase, timeoutMs, context = {} } = params;
  const started = performance.now();
  let found: ChainInUse;
  try {
    found = await source.current(params, () => ({ context, headers: {} }), timeoutMs);
  } catch (error) {
    if (!(error instanceof DiscoveryTimeoutError)) throw error;
    const { finalPayload: _none, ...empty } = passed({ event, phase, payload: undefined });
    const reason = 'the hosts were not listed in time';
    return {
      ...empty,
      status: 'timeout',
      totalDurationMs: performance.now() - started,
      abortedAt: { interceptor: '', host: '', reason, type: 'timeout' },
    };
  }
  try {
    const left = timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - started);
    return await found.chain.execute({ ...params, timeoutMs: left });
  } finally {
    found.end?.();
  }
}

/** Runs a chain once, with the defaults of a server's own traffic. */
export async function runChain(
  chain: ChainSource,
  event: InterceptionEvent,
  phase: Phase,
  given: Omit<ChainParams, 'event' | 'phase' | 'direction'> & { readonly direction?: Direction },
): Promise<{ result: ChainResult; direction: Direction }> {
  // Requests of the protocol arrive at the server. Other events are requests that the application sends.
  const comesIn = isServed(event) === (phase === 'request');
  const params = {
    direction: comesIn ? 'receive' : 'send',
    checkPayload: payloadCheck(event, phase),
    checkResponse: answerCheck(event),
    ...given,
    event,
    phase,
  } satisfies ChainParams;
  return { result: await executeIn(chain, params), direction: params.direction };
}
