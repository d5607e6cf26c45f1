import type { AuthInfo } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { networkOf } from '../util/network-of.js';
import { callerOf } from './caller.js';
import type { McpCall } from './mcp-call.js';

/** Maximum numbers that may be open at the same time. */
export interface Caps {
  /** For all callers together, on this node. */
  readonly max: number;
  /** Also for all anonymous callers with the same address. */
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

/** Counts items that callers hold open, and refuses items past a cap. */
export class CallerLimit {
  /** Holds only callers with a count above 0, so at most `max` callers. */
  private readonly counts = new Map<string, number>();
  private total = 0;
  /** How often callers reached their own cap, and the cap of the server. */
  readonly refusals = { caller: 0, server: 0 };

  /**
   * @param what follows "Too many" in refusals
   * @param retryAfter delay before the client may try again, in seconds
   */
  constructor(
    private readonly what: string,
    private readonly caps: Caps,
    private readonly retryAfter = 1,
  ) {}

  get size(): number {
    return this.total;
  }

  /** Whether the caller has reached its own cap. */
  isFull(caller: string): boolean {
    return (this.counts.get(caller) ?? 0) >= this.caps.maxPerCaller;
  }

  /** The refusal of `count` further items; undefined if they are within the caps. */
  refusal(caller: string, count = 1): LimitReached | undefined {
    const { max, maxPerCaller } = this.caps;
    if ((this.counts.get(caller) ?? 0) + count > maxPerCaller) return this.reached(429, 'caller');
    return this.total + count > max ? this.reached(503, 'server') : undefined;
  }

  /**
   * Counts `count` further items, unless it returns a refusal.
   * @param isForced whether the items count even past the caps
   */
  take(caller: string, count = 1, isForced = false): LimitReached | undefined {
    const refusal = isForced ? undefined : this.refusal(caller, count);
    if (refusal) return refusal;
    this.counts.set(caller, (this.counts.get(caller) ?? 0) + count);
    this.total += count;
    return undefined;
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
