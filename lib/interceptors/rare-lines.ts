import { LRUCache } from 'lru-cache';

/** How long a kind of line is not written again, in milliseconds. */
const INTERVAL_MS = 60_000;
const MAX_KINDS = 1000;

/** Keeps what happens again and again out of the log: of each kind, one line a minute is written. */
export class RareLines {
  private readonly kinds = new LRUCache<string, { readonly at: number; left: number }>({ max: MAX_KINDS });

  /** The line to write, which says how many were left out before it; undefined if it is left out. */
  line(kind: string, text: string): string | undefined {
    const now = performance.now();
    const known = this.kinds.get(kind);
    if (known && now - known.at < INTERVAL_MS) {
      known.left++;
      return undefined;
    }
    this.kinds.set(kind, { at: now, left: 0 });
    return known && known.left > 0 ? `${text} (and ${known.left} times before)` : text;
  }
}
