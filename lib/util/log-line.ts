import { LRUCache } from 'lru-cache';

const MAX_LENGTH = 4096;

const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Makes any text a single log line of bounded length. */
export function logLine(text: string): string {
  const shown = text.slice(0, MAX_LENGTH).replace(UNPRINTABLE, escaped);
  const more = text.length - MAX_LENGTH;
  return more > 0 ? `${shown}… (${more} more characters)` : shown;
}

function escaped(character: string): string {
  const json = JSON.stringify(character).slice(1, -1);
  return json === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : json;
}

/** Minimum time between two lines of one kind, in milliseconds. */
const INTERVAL_MS = 60_000;
const MAX_KINDS = 1000;

/** Limits repeated log lines: for each kind, one line a minute is written. */
export class RareLines {
  private readonly kinds = new LRUCache<string, { readonly at: number; left: number }>({ max: MAX_KINDS });

  /** The line to write, with the number of lines that were left out before it; undefined if it is left out. */
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
