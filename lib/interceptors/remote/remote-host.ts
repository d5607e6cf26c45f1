import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { timeLimit, type TimeLimit, unlessAborted } from '../../util/abort.js';
import { messageOf } from '../../util/message-of.js';
import { InterceptorTimeout } from '../chain/invoke-entry.js';
import { type ChainEntry, LOCAL_HOST } from '../chain/entry.js';
import type { Invocation } from '../chain/result.js';
import { JsonSize } from '../library/json-size.js';
import type { InterceptorDescriptor } from '../protocol/types.js';
import { breakerOf, type HostBreaker } from './breaker.js';
import { foreignConfigCheck } from '../local/config-check.js';
import { assertAnswers, boundedValidation, listAll } from './list-all.js';
import type { HostPolicy } from './host-options.js';
import type { Traffic } from '../../protocol/traffic.js';
import type { InterceptorInvoker } from './invoker.js';
import { Outgoing } from './outgoing.js';

/**
 * A host could not be listed. The log has the cause, and messages do not pass unchecked.
 * @example
 * ```ts
 * await InterceptorChain.discover(hosts).catch(error => {
 *   if (error instanceof DiscoveryError) return undefined; // a host cannot be listed
 *   throw error;
 * });
 * ```
 */
export class DiscoveryError extends Error {}

/** The message's own deadline passed before the hosts were listed. */
export class DiscoveryTimeoutError extends DiscoveryError {}

function isTimeout(error: unknown): boolean {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { timeoutMs?: unknown } | null };
  return code === McpErrorCode.Refused && typeof data?.timeoutMs === 'number';
}

/** Minimum lifetime of a listing, in milliseconds, even if the host sets a shorter lifetime. */
const MIN_TTL_MS = 1000;

/** Time without new attempts after a skippable host could not be listed, in milliseconds. */
const SKIPPED_MS = 1000;

const MAX_LISTINGS = 5;

export interface OpenHostOptions {
  /** Unique among all hosts of the process. Default: the host's name. */
  readonly id?: string;
  readonly ttlMs?: number;
  /** The server or client whose messages the host gets. */
  readonly server?: string;
  /** Observes the requests to connected hosts, if there are listeners. */
  readonly traffic?: Traffic;
  readonly warn: (message: string) => void;
  /** Default: nothing is logged. */
  readonly verbose?: (message: string) => void;
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
  readonly server: string | undefined;
  private readonly breaker: HostBreaker;
  private readonly outgoing: Outgoing;
  private readonly unwatch: (() => void) | void;
  private readonly policy: Required<Omit<HostPolicy, 'breaker' | 'send'>> & HostPolicy;
  private listing?: Listing;
  /** The last advertised interceptors, even if the listing has expired. */
  lastKnown: readonly ChainEntry[] = [];
  /** Counts the events that invalidate earlier listings. */
  private generation = 0;
  private connections = 0;
  private asked = 0;
  private listingNow?: Promise<readonly ChainEntry[]>;
  private listingTime?: TimeLimit;
  /** Whether it could be listed when it was asked last. */
  state: 'connected' | 'unreachable' | 'unknown' = 'unknown';

  /**
   * @param disconnect closes the host's own connection
   * @throws DiscoveryError for a name with a "/", or the reserved name `local`
   */
  constructor(
    options: HostPolicy & { readonly name: string },
    private readonly invoker: InterceptorInvoker,
    private readonly defaults: OpenHostOptions,
    private readonly disconnect: () => Promise<void> = async () => undefined,
  ) {
    this.name = options.name;
    if (this.name.includes('/'))
      throw new DiscoveryError(`The name "${this.name}" of a host contains a "/"; choose a name without it`);
    if (this.name === LOCAL_HOST)
      throw new DiscoveryError(
        `The name "${LOCAL_HOST}" is reserved for this process; choose another name for the host`,
      );
    this.id = defaults.id ?? this.name;
    this.server = defaults.server;
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

  /** The interceptors from a valid listing; undefined if the host must be asked. */
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

  /** Invalidates the listing, including a listing in progress, so that the next message asks the host again. */
  forget(): void {
    this.listing = undefined;
    this.generation++;
  }

  /** After a reconnection, another process may answer, with other interceptors. */
  reconnected(): void {
    if (this.connections++ > 0) this.forget();
  }

  /** @throws DiscoveryError if the host cannot be listed in time, or its listing is invalid */
  async entries(signal?: AbortSignal): Promise<readonly ChainEntry[]> {
    if (this.known) return this.known;
    if (!this.listingNow) {
      this.listingNow = this.list().finally(() => (this.listingNow = undefined));
      this.listingNow.catch(() => undefined);
    }
    return signal ? unlessAborted(this.listingNow, signal) : this.listingNow;
  }

  async close(): Promise<void> {
    this.unwatch?.();
    this.breaker.shutdown();
    this.listingTime?.release();
    await this.disconnect();
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
    const { discoveryTimeoutMs: timeoutMs, maxInterceptors, skipWhenUnlisted } = this.policy;
    const { name, invoker } = this;
    const { warn, verbose } = this.defaults;
    // Not the signal of the first message, because other messages wait for the same listing.
    const time = (this.listingTime = timeLimit(timeoutMs));
    const { signal } = time;
    let listed: Awaited<ReturnType<typeof listAll>>;
    try {
      const listing = listAll(invoker, { name, maxInterceptors, timeoutMs, signal, warn, verbose });
      listed = await unlessAborted(listing, signal);
    } catch (error) {
      this.state = 'unreachable';
      const reason = signal.aborted ? `it took longer than ${timeoutMs} ms` : messageOf(error);
      const failure = new DiscoveryError(`The interceptors of "${name}" could not be listed: ${reason}`);
      if (!skipWhenUnlisted) throw failure;
      warn(`${failure.message}; messages pass without them (skipWhenUnlisted)`);
      const expiresAt = Date.now() + Math.min(this.policy.ttlMs, SKIPPED_MS);
      return { entries: [], expiresAt, isSkipped: true };
    } finally {
      time.clear();
    }
    const entries = listed.descriptors.map(descriptor => this.entryOf(descriptor));
    // Bounded, so that the host is not listed for every message, even if it asks for it.
    const ttlMs = Math.min(this.policy.ttlMs, Math.max(listed.ttlMs, MIN_TTL_MS));
    const before = this.lastKnown.length;
    if (before > 0 && entries.length === 0) {
      const count = `${before} interceptor${before === 1 ? '' : 's'}`;
      warn(
        `"${name}" advertised ${count} before, and now none: messages pass without them. Check the host, or remove it from "servers".`,
      );
    }
    this.lastKnown = entries;
    this.state = 'connected';
    return { entries, expiresAt: Date.now() + ttlMs };
  }

  private entryOf(descriptor: InterceptorDescriptor): ChainEntry {
    const { configSchema } = descriptor;
    return {
      host: this.name,
      descriptor,
      // The side effects of a remote interceptor are unknown.
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
      throw new Error(
        `${maxConcurrent} of its invocations are already running; raise "maxConcurrent" if the host can serve more`,
      );
    }
    this.asked++;
    try {
      result = await this.breaker.fire(async () => {
        const answer = await unlessAborted(this.invoker.invoke(params, { signal, timeoutMs }), signal);
        const { excess } = new JsonSize({ maxBytes, maxDepth: 500, maxNodes: 1_000_000 }).add(answer);
        if (excess) throw new Error(`its result exceeds ${excess}`);
        assertAnswers(answer, params);
        if (connections !== this.connections) {
          throw new Error('it reconnected during the invocation, so its earlier listing may be outdated');
        }
        return answer;
      });
    } catch (error) {
      // The interceptor may be gone or changed, so the listing may be outdated.
      if ((error as { code?: unknown }).code === McpErrorCode.InvalidParams) this.forget();
      throw isTimeout(error) ? new InterceptorTimeout(`it ran out of time on ${this.name}`) : error;
    } finally {
      this.asked--;
    }
    if (type === 'mutation') return this.outgoing.takeBack(payload, result);
    return type === 'validation' ? boundedValidation(result) : result;
  }
}
