import { unlessAborted } from '../../util/abort.js';
import { messageOf } from '../../util/message-of.js';
import { InterceptorTimeout } from '../chain/invoke-entry.js';
import { type ChainEntry, LOCAL_HOST } from '../chain/entry.js';
import type { Invocation } from '../chain/result.js';
import { JsonSize } from '../library/json-size.js';
import type { InterceptorDescriptor } from '../protocol/types.js';
import { breakerOf, type HostBreaker, timeLimit, type TimeLimit } from './breaker.js';
import { foreignConfigCheck } from '../local/config-check.js';
import { assertAnswers, boundedValidation, listAll } from './list-all.js';
import type { HostPolicy } from './host-options.js';
import type { Traffic } from '../../protocol/traffic.js';
import type { InterceptorInvoker } from './invoker.js';
import { Outgoing } from './outgoing.js';

/**
 * A host could not be listed: the cause is in the log, and nothing passes unchecked.
 * @example
 * ```ts
 * await InterceptorChain.discover(hosts).catch(error => {
 *   if (error instanceof DiscoveryError) return undefined; // a host cannot be listed
 *   throw error;
 * });
 * ```
 */
export class DiscoveryError extends Error {}

/** It was not the hosts' own time that was up, but the message's. */
export class DiscoveryTimeoutError extends DiscoveryError {}

const UNKNOWN_INTERCEPTOR = -32602;
const TIMEOUT = -32000;

function isTimeout(error: unknown): boolean {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { timeoutMs?: unknown } | null };
  return code === TIMEOUT && typeof data?.timeoutMs === 'number';
}

/** How long a listing is believed at least, in milliseconds, where the host says less. */
const MIN_TTL_MS = 1000;

/** How long a host that may be skipped is left alone after it could not be listed, in milliseconds. */
const SKIPPED_MS = 1000;

const MAX_LISTINGS = 5;

export interface OpenHostOptions {
  /** Unique among all hosts that are ever asked. Default: the host's name. */
  readonly id?: string;
  readonly ttlMs?: number;
  /** Observes the requests to hosts that are connected to here, if anybody does. */
  readonly traffic?: Traffic;
  readonly warn: (message: string) => void;
}

interface Listing {
  readonly entries: readonly ChainEntry[];
  readonly expiresAt: number;
  /** The host could not be listed, and messages pass without it. */
  readonly isSkipped?: true;
}

export class RemoteHost {
  readonly name: string;
  readonly id: string;
  private readonly breaker: HostBreaker;
  private readonly outgoing: Outgoing;
  private readonly unwatch: (() => void) | void;
  private readonly policy: Required<Omit<HostPolicy, 'breaker' | 'send'>> & HostPolicy;
  private listing?: Listing;
  /** What it advertised last, whether or not that still holds. */
  lastKnown: readonly ChainEntry[] = [];
  /** Counts what made the host's earlier words worthless. */
  private generation = 0;
  private connections = 0;
  private asked = 0;
  private listingNow?: Promise<readonly ChainEntry[]>;
  private listingTime?: TimeLimit;
  /** Whether it could be listed when it was asked last. */
  state: 'connected' | 'unreachable' | 'unknown' = 'unknown';

  /** @throws DiscoveryError for a name that stands for this process, or for another host's interceptor */
  constructor(
    options: HostPolicy & { readonly name: string },
    private readonly invoker: InterceptorInvoker,
    private readonly defaults: OpenHostOptions,
  ) {
    this.name = options.name;
    if (this.name.includes('/')) throw new DiscoveryError(`The name of a host has no "/": "${this.name}"`);
    if (this.name === LOCAL_HOST)
      throw new DiscoveryError(`"${LOCAL_HOST}" is this process, and no other host`);
    this.id = defaults.id ?? this.name;
    this.policy = {
      maxConcurrent: 64,
      maxInterceptors: 1000,
      maxResultBytes: 8 * 1024 * 1024,
      discoveryTimeoutMs: 5000,
      skipWhenUnlisted: false,
      ...options,
      ttlMs: options.ttlMs ?? defaults.ttlMs ?? 60_000,
    };
    const { breaker, send } = this.policy;
    this.breaker = breakerOf(this.name, breaker);
    this.outgoing = new Outgoing(send);
    this.unwatch = invoker.onChanged?.(() => this.forget());
  }

  /** What is known of the host, without asking it; undefined where it has to be asked. */
  get known(): readonly ChainEntry[] | undefined {
    return this.listing && Date.now() < this.listing.expiresAt ? this.listing.entries : undefined;
  }

  get isBusy(): boolean {
    return this.asked > 0;
  }

  get breakerState(): 'closed' | 'open' | 'half-open' {
    if (this.breaker.opened) return 'open';
    return this.breaker.halfOpen ? 'half-open' : 'closed';
  }

  /** Whether messages are refused while the host cannot be listed. */
  get isRequired(): boolean {
    return !this.policy.skipWhenUnlisted;
  }

  /** Whether the host answers now, and its interceptors can be used. Never rejects. */
  async isUp(signal: AbortSignal): Promise<boolean> {
    if (this.breaker.opened) return false;
    const isKnown = this.known !== undefined;
    try {
      await this.entries(signal);
      if (this.listing?.isSkipped) return false;
      // A listing is kept for some time, and the host may be gone since.
      const { discoveryTimeoutMs: timeoutMs } = this.policy;
      if (isKnown) await unlessAborted(this.invoker.list({}, { signal, timeoutMs }), signal);
      return true;
    } catch {
      return false;
    }
  }

  /** Makes the next message ask the host again; what it is saying right now is no longer believed, either. */
  forget(): void {
    this.listing = undefined;
    this.generation++;
  }

  /** Another process may answer on a new connection, with other interceptors. */
  reconnected(): void {
    if (this.connections++ > 0) this.forget();
  }

  /** @throws DiscoveryError if the host cannot be listed in time, or says something wrong */
  async entries(signal?: AbortSignal): Promise<readonly ChainEntry[]> {
    if (this.known) return this.known;
    if (!this.listingNow) {
      this.listingNow = this.list().finally(() => (this.listingNow = undefined));
      this.listingNow.catch(() => undefined);
    }
    return signal ? unlessAborted(this.listingNow, signal) : this.listingNow;
  }

  close(): void {
    this.unwatch?.();
    this.breaker.shutdown();
    this.listingTime?.release();
  }

  private async list(): Promise<readonly ChainEntry[]> {
    for (let attempt = 0; attempt < MAX_LISTINGS; attempt++) {
      const { generation } = this;
      const listing = await this.listOnce();
      if (generation !== this.generation) continue;
      this.listing = listing;
      return listing.entries;
    }
    throw new DiscoveryError(`The interceptors of "${this.name}" change faster than they can be listed`);
  }

  private async listOnce(): Promise<Listing> {
    const { discoveryTimeoutMs, skipWhenUnlisted } = this.policy;
    // Not the signal of the first message: other messages wait for the same listing.
    const time = (this.listingTime = timeLimit(discoveryTimeoutMs));
    const { signal } = time;
    let entries: readonly ChainEntry[];
    let ttlMs: number;
    try {
      ({ entries, ttlMs } = await unlessAborted(this.listAll(signal), signal));
    } catch (error) {
      this.state = 'unreachable';
      const reason = signal.aborted ? `it took longer than ${discoveryTimeoutMs} ms` : messageOf(error);
      const failure = new DiscoveryError(`The interceptors of "${this.name}" could not be listed: ${reason}`);
      if (!skipWhenUnlisted) throw failure;
      this.defaults.warn(`${failure.message}; messages pass without them (skipWhenUnlisted)`);
      const expiresAt = Date.now() + Math.min(this.policy.ttlMs, SKIPPED_MS);
      return { entries: [], expiresAt, isSkipped: true };
    } finally {
      time.clear();
    }
    const before = this.lastKnown.length;
    if (before > 0 && entries.length === 0) {
      const count = `${before} interceptor${before === 1 ? '' : 's'}`;
      this.defaults.warn(
        `"${this.name}" advertised ${count} before, and now none: messages pass without them. Check the host, or remove it from "servers".`,
      );
    }
    this.lastKnown = entries;
    this.state = 'connected';
    return { entries, expiresAt: Date.now() + ttlMs };
  }

  private async listAll(signal: AbortSignal): Promise<{ entries: ChainEntry[]; ttlMs: number }> {
    const { discoveryTimeoutMs: timeoutMs, maxInterceptors } = this.policy;
    const { name, invoker } = this;
    const { warn } = this.defaults;
    const listed = await listAll(invoker, { name, maxInterceptors, timeoutMs, signal, warn });
    return {
      entries: listed.descriptors.map(descriptor => this.entryOf(descriptor)),
      // It is not listed for every message, whatever it says.
      ttlMs: Math.min(this.policy.ttlMs, Math.max(listed.ttlMs, MIN_TTL_MS)),
    };
  }

  private entryOf(descriptor: InterceptorDescriptor): ChainEntry {
    const { configSchema } = descriptor;
    return {
      host: this.name,
      descriptor,
      // What it does beside answering, nobody here can know.
      traits: { sideEffects: 'some' },
      ...(configSchema && { checkConfig: foreignConfigCheck(configSchema) }),
      invoke: invocation => this.invoke(descriptor, invocation),
    };
  }

  private async invoke({ type }: InterceptorDescriptor, invocation: Invocation): Promise<unknown> {
    const { signal, timeoutMs, payload } = invocation;
    const params = this.outgoing.paramsFor(invocation);
    let result: unknown;
    const { connections } = this;
    const { maxConcurrent, maxResultBytes: maxBytes } = this.policy;
    // Opossum's own `capacity` would count it as a failure of the host.
    if (this.asked >= maxConcurrent) {
      throw new Error(`${maxConcurrent} invocations of it run already ("maxConcurrent")`);
    }
    this.asked++;
    try {
      result = await this.breaker.fire(async () => {
        const answer = await unlessAborted(this.invoker.invoke(params, { signal, timeoutMs }), signal);
        const { excess } = new JsonSize({ maxBytes, maxDepth: 500, maxNodes: 1_000_000 }).add(answer);
        if (excess) throw new Error(`its result exceeds ${excess}`);
        assertAnswers(answer, params);
        if (connections !== this.connections) {
          throw new Error('it was connected anew meanwhile: what it advertised before may be history');
        }
        return answer;
      });
    } catch (error) {
      // It may be gone, or be another one now: what the host advertises is not what is known of it.
      if ((error as { code?: unknown }).code === UNKNOWN_INTERCEPTOR) this.forget();
      throw isTimeout(error) ? new InterceptorTimeout(`it ran out of time on ${this.name}`) : error;
    } finally {
      this.asked--;
    }
    if (type === 'mutation') return this.outgoing.takeBack(payload, result);
    return type === 'validation' ? boundedValidation(result, params) : result;
  }
}
