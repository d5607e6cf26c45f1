import type { AuthInfo } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { networkOf } from '../util/network-of.js';
import { callerOf } from './caller.js';

/** How many may be open at a time. */
export interface Caps {
  /** Of all callers together, on this node. */
  readonly max: number;
  readonly maxPerCaller: number;
  /** Of all anonymous callers with one address. */
  readonly maxPerAddress: number;
}

/** A refusal of what is past a cap. Over HTTP it decides the status of the answer. */
export class LimitReached extends McpException {
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param status 429 for a cap of the caller, 503 for a cap of the process
   * @param retryAfter when to try again, in seconds
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

/** Counts something that callers have open, and refuses what is past a cap. */
export class CallerLimit {
  /** Holds no caller whose count is 0, and so at most `max` callers. */
  private readonly counts = new Map<string, number>();
  private total = 0;
  /** How often the cap of a caller, and that of the server, was reached. */
  readonly refusals = { caller: 0, server: 0 };

  /**
   * @param what follows "Too many" in refusals
   * @param retryAfter when to try again, in seconds
   */
  constructor(
    private readonly what: string,
    private readonly caps: Caps,
    private readonly retryAfter = 1,
  ) {}

  /** How many are open. */
  get size(): number {
    return this.total;
  }

  /** The refusal of so many more; undefined if they are within the caps. */
  refusal(caller: string, count = 1): LimitReached | undefined {
    const { max, maxPerCaller, maxPerAddress } = this.caps;
    const cap = isCaller(caller) ? maxPerCaller : maxPerAddress;
    if ((this.counts.get(caller) ?? 0) + count > cap) return this.reached(429, 'caller');
    return this.total + count > max ? this.reached(503, 'server') : undefined;
  }

  /** Counts so many more, unless it returns a refusal. */
  take(caller: string, count = 1): LimitReached | undefined {
    const refusal = this.refusal(caller, count);
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

/** The caller of everything that comes over stdio. */
export const STDIO_CALLER = '["stdio"]';

/** Identifies the caller in the limits: as `callerOf` does, and an anonymous caller by its address. */
export function limitKeyOf(
  authInfo: AuthInfo | undefined,
  platformRequest: object,
  address: string | undefined,
): string {
  const { user } = platformRequest as { user?: unknown };
  const isKnown = authInfo !== undefined || (user !== undefined && user !== null);
  if (isKnown) return callerOf(authInfo, platformRequest);
  // A proxy may pass on any text that a client wrote: it must not look like a caller.
  if (address === undefined || isCaller(address)) return 'unknown';
  return address.includes(':') ? networkOf(address) : address;
}

/** Callers are JSON arrays, addresses are not. */
export const isCaller = (key: string): boolean => key.startsWith('[');
