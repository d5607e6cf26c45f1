import { LRUCache } from 'lru-cache';

/** How long the refused tokens of an address count together, in milliseconds. */
const WINDOW_MS = 60_000;

const MAX_ADDRESSES = 10_000;

/** Counts the refused tokens of each address, so that nobody makes the server verify tokens without end. */
export class RefusedTokens {
  private readonly counts = new LRUCache<string, { count: number }>({ max: MAX_ADDRESSES, ttl: WINDOW_MS });

  /** @param max the most refused tokens of an address in a minute */
  constructor(private readonly max: number) {}

  /** How long no further token of an address is verified, in seconds; undefined below the limit. */
  waitSeconds(address: string): number | undefined {
    const count = this.counts.get(address)?.count ?? 0;
    return count < this.max ? undefined : Math.ceil(this.counts.getRemainingTTL(address) / 1000);
  }

  add(address: string): void {
    const known = this.counts.get(address);
    if (known) known.count += 1;
    else this.counts.set(address, { count: 1 });
  }
}
