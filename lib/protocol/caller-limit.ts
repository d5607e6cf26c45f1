import type { AuthInfo } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { networkOf } from '../util/network-of.js';
import { callerOf } from './caller.js';
import type { McpCall } from './mcp-call.js';

/** Maximum numbers that may be open at the same time. */
export interface Caps {
  /** For all callers together, on this node. */
  readonly max: number;
  /** Also for all anonymous callers with the same address, and for all nodes that count together. */
  readonly maxPerCaller: number;
}

/** A refusal because of a cap, of this server or of one behind it. Over HTTP it sets the status of the answer. */
export class LimitReached extends McpException {
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param status 429 for a cap of the caller, 503 for a cap of the process
   * @param retryAfter delay before the client may try again, in seconds
   */
  constructor(
    readonly status: 429 | 503,
    message: string,
    retryAfter = 1,
  ) {
    super(McpErrorCode.Refused, message, { statusCode: status });
    this.headers = { 'retry-after': String(retryAfter) };
  }
}

/** A caller with this part of its cap on one node is counted on all nodes. */
const MUCH = 1 / 16;

interface LimitOptions {
  /** Delay before the client may try again, in seconds. Default: 1. */
  readonly retryAfter?: number;
  /** Counts the items of a caller on all nodes. Default: each node counts alone. */
  readonly counting?: Counting;
}

/** A limit whose callers are counted on all nodes. */
export interface CountedLimit {
  /** Separates the counts of several limits. */
  readonly name: string;
  /** From this count on, the other nodes learn of a caller. Callers with less cost nothing. */
  readonly much: number;
  /** What a caller holds on this node. */
  held(caller: string): number;
}

/** What the callers of a limit hold on all nodes. */
export interface CallerCounts {
  /** What the other nodes hold for a caller, as far as this node knows. */
  elsewhere(caller: string): number;
  /** Notes what a caller holds here. The other nodes learn of it soon. */
  note(caller: string, count: number): void;
  /** Learns soon whether the caller, which has been refused, still holds as much on the other nodes. */
  refused(caller: string): void;
  /** Tells the other nodes what a caller holds here, and learns what it holds there. Never rejects. */
  compare(caller: string): Promise<void>;
  /** Forgets what this node holds. Never rejects. */
  close(): Promise<void>;
}

/** How the nodes of a server count together. */
export interface Counting {
  readonly server: string;
  readonly counts: (limit: CountedLimit) => CallerCounts;
}

/** Counts items that callers hold open, and refuses items past a cap. */
export class CallerLimit {
  /** Holds only callers with a count above 0, so at most `max` callers. */
  private readonly counts = new Map<string, number>();
  private total = 0;
  /** How often callers reached their own cap, and the cap of the server. */
  readonly refusals = { caller: 0, server: 0 };
  private readonly retryAfter: number;
  private readonly much: number;
  private readonly shared?: CallerCounts;

  /** @param what follows "Too many" in refusals */
  constructor(
    private readonly what: string,
    private readonly caps: Caps,
    { retryAfter = 1, counting }: LimitOptions = {},
  ) {
    this.retryAfter = retryAfter;
    const much = (this.much = Math.ceil(caps.maxPerCaller * MUCH));
    this.shared = counting?.counts({
      name: `${counting.server}:${what}`,
      much,
      held: caller => this.counts.get(caller) ?? 0,
    });
  }

  get size(): number {
    return this.total;
  }

  /** What each caller holds on this node. */
  get held(): ReadonlyMap<string, number> {
    return this.counts;
  }

  /** Whether the caller has reached its own cap. */
  isFull(caller: string): boolean {
    return (this.counts.get(caller) ?? 0) >= this.caps.maxPerCaller;
  }

  /** The refusal of `count` further items; undefined if they are within the caps. */
  refusal(caller: string, count = 1): LimitReached | undefined {
    const held = (this.counts.get(caller) ?? 0) + (this.shared?.elsewhere(caller) ?? 0);
    if (held + count > this.caps.maxPerCaller) {
      this.shared?.refused(caller);
      return this.reached(429, 'caller');
    }
    return this.total + count > this.caps.max ? this.reached(503, 'server') : undefined;
  }

  /**
   * Counts `count` further items, unless it returns a refusal.
   * @param isForced whether the items count even past the caps
   */
  take(caller: string, count = 1, isForced = false): LimitReached | undefined {
    const refusal = isForced ? undefined : this.refusal(caller, count);
    if (refusal) return refusal;
    const held = (this.counts.get(caller) ?? 0) + count;
    this.counts.set(caller, held);
    this.total += count;
    if (this.shared && held >= this.much) this.shared.note(caller, held);
    return undefined;
  }

  /** Like `take`, but asks the other nodes first what a caller with many items holds there. */
  async claim(caller: string): Promise<LimitReached | undefined> {
    const { shared } = this;
    if (!shared || (this.counts.get(caller) ?? 0) + 1 < this.much) return this.take(caller);
    if (this.total >= this.caps.max) return this.reached(503, 'server');
    // Counted before it asks, so that no two nodes give the last place.
    this.take(caller, 1, true);
    await shared.compare(caller);
    const refusal = this.refusal(caller, 0);
    if (refusal) this.release(caller);
    return refusal;
  }

  /** Tells the other nodes that this node holds nothing any more. */
  async close(): Promise<void> {
    await this.shared?.close();
  }

  release(caller: string, count = 1): void {
    const left = this.counts.get(caller)! - count;
    if (left === 0) this.counts.delete(caller);
    else this.counts.set(caller, left);
    this.total -= count;
  }

  private reached(status: 429 | 503, whose: 'caller' | 'server'): LimitReached {
    this.refusals[whose] += 1;
    const message = `Too many ${this.what}: the limit of the ${whose} is reached; try again later`;
    return new LimitReached(status, message, this.retryAfter);
  }
}

/** The key of all callers over stdio. */
export const STDIO_CALLER = '["stdio"]';

/** Identifies the caller in the limits: by `callerOf`, or by the address of an anonymous caller. */
export function limitKeyOf(
  authInfo: AuthInfo | undefined,
  platformRequest: object,
  address: string | undefined,
): string {
  const { user } = platformRequest as { user?: unknown };
  const isKnown = authInfo !== undefined || (user !== undefined && user !== null);
  if (isKnown) return callerOf(authInfo, platformRequest);
  // A proxy may forward any text of a client. It must not look like a caller.
  if (address === undefined || isCaller(address)) return 'unknown';
  return address.includes(':') ? networkOf(address) : address;
}

/** The key of a call's caller in the limits. */
export const limitKeyIn = ({ http, identity }: McpCall): string =>
  http?.caller ?? identity?.limitKey ?? STDIO_CALLER;

/** Keys of callers are JSON arrays; addresses are not. */
export const isCaller = (key: string): boolean => key.startsWith('[');
