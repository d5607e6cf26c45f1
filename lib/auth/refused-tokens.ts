import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** How long the refused tokens of an address count together, in milliseconds. */
const WINDOW_MS = 60_000;

const MAX_ADDRESSES = 10_000;

/** The most tokens. One that is pushed out counts again. */
const MAX_TOKENS = 10_000;

/**
 * Counts the refused tokens of each address, each token once for a URL, so that nobody makes the server verify tokens without
 * end. A client that repeats an expired token does not lock out its address.
 */
export class RefusedTokens {
  private readonly counts = new LRUCache<string, { count: number }>({ max: MAX_ADDRESSES, ttl: WINDOW_MS });
  /** The tokens that have been counted, by SHA-256. */
  private readonly counted = new LRUCache<string, true>({ max: MAX_TOKENS, ttl: WINDOW_MS });

  /** @param max the most refused tokens of an address in a minute */
  constructor(private readonly max: number) {}

  /** How long no further token of an address is verified, in seconds; undefined below the limit. */
  waitSeconds(address: string): number | undefined {
    const count = this.counts.get(address)?.count ?? 0;
    return count < this.max ? undefined : Math.ceil(this.counts.getRemainingTTL(address) / 1000);
  }

  /** @param verdict identifies a token at a URL */
  add(address: string, verdict: string): void {
    const key = hash('sha256', `${address}\n${verdict}`, 'base64');
    if (this.counted.has(key)) return;
    this.counted.set(key, true);
    const known = this.counts.get(address);
    if (known) known.count += 1;
    else this.counts.set(address, { count: 1 });
  }
}
