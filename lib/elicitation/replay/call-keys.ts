import { isKey, KEY_RULE } from '../requests/key.js';
import type { ReportMistake } from '../mrtr.error.js';

/** The author's line, and before it a method of `McpContext` and one of the platform, such as `map`. */
const FRAMES = 3;

/** A stack trace, computed only if it is read. It is an object of its own, because V8 makes it a slow one. */
export interface Frames {
  readonly stack?: string;
}

interface Place {
  readonly frames: Frames;
  location?: string;
}

/**
 * Where the author called a function. The function must call this itself, because each further frame takes time.
 * @param from the function that the author called; the stack starts above it
 */
export function framesAbove(from: (...args: never[]) => unknown): Frames {
  const frames: Frames = {};
  const { stackTraceLimit } = Error;
  // A longer stack takes longer to capture.
  Error.stackTraceLimit = FRAMES;
  Error.captureStackTrace(frames, from);
  Error.stackTraceLimit = stackTraceLimit;
  return frames;
}

export interface Use {
  readonly key: string;
  readonly place: Place;
  isOver: boolean;
}

/** Uses of a key never overlap, so only the last use can be open. */
interface Uses {
  readonly count: number;
  readonly first: Place;
  readonly last: Use;
}

export class CallKeys {
  /** By kind and key. */
  private uses = new Map<string, Uses>();

  constructor(
    private readonly where: string,
    private readonly wrong: ReportMistake,
  ) {}

  /**
   * Counts the uses of a key in a loop. It refuses overlapping uses and a second place, because their order may differ
   * in the next round. @throws MrtrError
   */
  add(kind: 'ask' | 'step', key: string, frames: Frames): Use {
    if (!isKey(key)) {
      throw this.wrong('MRTR_INVALID_KEY', `${this.where} used ${JSON.stringify(key)} as a key; ${KEY_RULE}`);
    }
    const name = `${kind} ${key}`;
    const earlier = this.uses.get(name);
    const place: Place = { frames, location: undefined };
    if (earlier && !earlier.last.isOver) {
      throw this.wrong(
        'MRTR_DUPLICATE_KEY',
        `${this.where} used "${key}" twice at the same time, at ${lineOf(earlier.last.place)} and at ${lineOf(place)}; give each its own key`,
      );
    }
    if (earlier && locationOf(earlier.first) !== locationOf(place)) {
      throw this.wrong(
        'MRTR_DUPLICATE_KEY',
        `${this.where} used "${key}" at two places, ${lineOf(earlier.first)} and ${lineOf(place)}; give each its own key, because only a loop can use a key again`,
      );
    }
    const count = (earlier?.count ?? 0) + 1;
    const use: Use = { key: count === 1 ? key : `${key}#${count}`, isOver: false, place };
    this.uses.set(name, { count, first: earlier?.first ?? place, last: use });
    return use;
  }

  /** @returns a function that forgets the keys used since this call */
  mark(): () => void {
    const uses = [...this.uses];
    return () => (this.uses = new Map(uses));
  }
}

/** The first stack line outside this library and the platform. */
const lineOf = ({ frames: { stack = '' } }: Place): string =>
  stack
    .split('\n')
    .slice(1)
    .find(line => !/[\\/]mcp-context\.|\(<anonymous>\)/.test(line))
    ?.trim()
    .replace(/^at /, '') ?? 'an unknown place';

/** Without the function's name, because the name depends on the receiver. */
const locationOf = (place: Place): string =>
  (place.location ??= /[^()\s]*:\d+:\d+(?=\)?$)/.exec(lineOf(place))?.[0] ?? '');
