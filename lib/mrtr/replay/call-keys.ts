import { isKey, KEY_RULE } from '../../input/key.js';
import type { ReportMistake } from '../mrtr.error.js';

/** A stack, which costs little until it is read. */
interface Place {
  readonly stack?: string;
  /** File, line and column, once somebody has asked for them. */
  location?: string;
}

/** One question or step of a handler, under its key. */
export interface Use {
  readonly key: string;
  readonly place: Place;
  isOver: boolean;
}

/** How often a key has come by, and where. Never twice at a time: so only its last use can still be open. */
interface Uses {
  readonly count: number;
  readonly first: Place;
  readonly last: Use;
}

/** The keys under which a handler asks and does steps in one round. */
export class CallKeys {
  private uses = { ask: new Map<string, Uses>(), step: new Map<string, Uses>() };

  /** @param where `Class.method`, for messages */
  constructor(
    private readonly where: string,
    private readonly wrong: ReportMistake,
  ) {}

  /**
   * Notes the use of a key. Where one comes by again, in a loop, it is counted; but never on two paths at a time, and never
   * at two places: whether those are two paths cannot be seen, and their order may be another one in the next round.
   * @param from what the author's code called: the frames of a stack above it are not the author's
   * @throws MrtrError
   */
  add(kind: 'ask' | 'step', key: string, from: (...args: never[]) => unknown): Use {
    if (!isKey(key)) {
      throw this.wrong('MRTR_INVALID_KEY', `${this.where} used ${JSON.stringify(key)} as a key; ${KEY_RULE}`);
    }
    const earlier = this.uses[kind].get(key);
    const place: Place = {};
    Error.captureStackTrace(place, from);
    if (earlier && !earlier.last.isOver) {
      throw this.wrong(
        'MRTR_DUPLICATE_KEY',
        `${this.where} used "${key}" twice at a time, at ${lineOf(earlier.last.place)} and at ${lineOf(place)}; give each its own key`,
      );
    }
    if (earlier && locationOf(earlier.first) !== locationOf(place)) {
      throw this.wrong(
        'MRTR_DUPLICATE_KEY',
        `${this.where} used "${key}" at two places, ${lineOf(earlier.first)} and ${lineOf(place)}; give each its own key: only a loop can use one again`,
      );
    }
    const count = (earlier?.count ?? 0) + 1;
    const use: Use = { key: count === 1 ? key : `${key}#${count}`, isOver: false, place };
    this.uses[kind].set(key, { count, first: earlier?.first ?? place, last: use });
    return use;
  }

  /** @returns a function that forgets the keys used from here on */
  mark(): () => void {
    const copyOf = ({ ask, step }: CallKeys['uses']) => ({ ask: new Map(ask), step: new Map(step) });
    const uses = copyOf(this.uses);
    return () => (this.uses = copyOf(uses));
  }
}

/** The line of the handler that calls: the first that is neither the context's nor the platform's. */
const lineOf = ({ stack = '' }: Place): string =>
  stack
    .split('\n')
    .slice(1)
    .find(line => !/[\\/]mcp-context\.|\(<anonymous>\)/.test(line))
    ?.trim()
    .replace(/^at /, '') ?? 'an unknown place';

/** Without the name of the function, which depends on what it was called on. */
const locationOf = (place: Place): string =>
  (place.location ??= /[^()\s]*:\d+:\d+(?=\)?$)/.exec(lineOf(place))?.[0] ?? '');
