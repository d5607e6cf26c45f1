import { isKey, KEY_RULE } from '../requests/key.js';
import type { ReportMistake } from '../mrtr.error.js';

/** The author's line, and at most three frames of `McpContext` before it. */
const FRAMES = 4;

interface Place {
  /** A stack trace, computed only if it is read. It is an object of its own, because V8 makes it a slow one. */
  readonly frames: { readonly stack?: string };
  location?: string;
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
  private uses = { ask: new Map<string, Uses>(), step: new Map<string, Uses>() };

  constructor(
    private readonly where: string,
    private readonly wrong: ReportMistake,
  ) {}

  /**
   * Counts the uses of a key in a loop. It refuses overlapping uses and a second place, because their order may differ
   * in the next round. @throws MrtrError
   * @param from the function that the author called; the stack starts above it
   */
  add(kind: 'ask' | 'step', key: string, from: (...args: never[]) => unknown): Use {
    if (!isKey(key)) {
      throw this.wrong('MRTR_INVALID_KEY', `${this.where} used ${JSON.stringify(key)} as a key; ${KEY_RULE}`);
    }
    const earlier = this.uses[kind].get(key);
    const place: Place = { frames: {}, location: undefined };
    const { stackTraceLimit } = Error;
    // A longer stack takes longer to capture.
    Error.stackTraceLimit = FRAMES;
    Error.captureStackTrace(place.frames, from);
    Error.stackTraceLimit = stackTraceLimit;
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
    this.uses[kind].set(key, { count, first: earlier?.first ?? place, last: use });
    return use;
  }

  /** @returns a function that forgets the keys used since this call */
  mark(): () => void {
    const copyOf = ({ ask, step }: CallKeys['uses']) => ({ ask: new Map(ask), step: new Map(step) });
    const uses = copyOf(this.uses);
    return () => (this.uses = copyOf(uses));
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
