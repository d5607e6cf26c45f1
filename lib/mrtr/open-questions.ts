import { unlessAborted } from '../util/abort.js';
import type { PreparedQuestion } from './input-request.js';
import type { OpenQuestion } from './journal.js';
import { RoundEnded } from './round-ended.js';

/** How long questions wait for steps before that is told, in milliseconds. */
const SLOW_MS = 10_000;

interface OpenAsk {
  readonly prepared: PreparedQuestion;
  readonly end: (reason: RoundEnded) => void;
}

/** What questions need to know of their round. */
interface RoundState {
  /** Whether nobody waits for an answer any more. */
  readonly isOver: () => boolean;
  /** Whether the handler's own method has ended. */
  readonly hasEnded: () => boolean;
  /** Told when they are handed out. */
  readonly onEnd: () => void;
  /** Told of a question that has to wait long for steps. */
  readonly onSlow: (key: string) => void;
}

/** The questions of a round that only the client's next one can answer. */
export class OpenQuestions {
  private readonly asks = new Map<string, OpenAsk>();
  private ending?: NodeJS.Immediate;
  /** Whether they have been handed out: whoever goes on did not let the signal pass. */
  isHandedOut = false;

  constructor(
    private readonly signal: AbortSignal,
    /** What the end of the round waits for. */
    private readonly busy: Set<Promise<unknown>>,
    private readonly round: RoundState,
  ) {}

  /** Never answers: it rejects once the round ends. */
  add(key: string, prepared: PreparedQuestion): Promise<never> {
    return new Promise((_, reject) => {
      if (this.round.isOver()) return reject(new RoundEnded());
      this.asks.set(key, { prepared, end: reject });
      this.endSoon();
    });
  }

  get(key: string): PreparedQuestion | undefined {
    return this.asks.get(key)?.prepared;
  }

  /** What they were, for the journal. */
  recorded(): Record<string, OpenQuestion> {
    const open: Record<string, OpenQuestion> = {};
    for (const [key, { prepared }] of this.asks) {
      open[key] = { method: prepared.request.method, fingerprint: prepared.fingerprint };
    }
    return open;
  }

  /** Keeps the round from ending until some work is done. */
  async after<T>(work: Promise<T>): Promise<T> {
    this.busy.add(work);
    try {
      return await work;
    } finally {
      this.busy.delete(work);
    }
  }

  close(): void {
    clearImmediate(this.ending);
  }

  /** What is asked in the same turn of the event loop is one round. */
  private endSoon(): void {
    this.ending ??= setImmediate(() => {
      this.ending = undefined;
      if (this.busy.size > 0 && !this.signal.aborted) {
        const isSlow = setTimeout(() => this.round.onSlow([...this.asks.keys()][0]), SLOW_MS).unref();
        void this.idle().then(() => {
          clearTimeout(isSlow);
          this.endSoon();
        });
        return;
      }
      if (this.round.isOver()) return;
      this.isHandedOut = true;
      this.round.onEnd();
      this.end([...this.asks.values()].reverse());
    });
  }

  /** Settles once nothing runs whose result is to be remembered, or the client is gone. */
  idle(): Promise<unknown> {
    return unlessAborted(Promise.allSettled(this.busy), this.signal).catch(() => undefined);
  }

  /**
   * What the handler waits for is most likely what it asked last. Once it has ended, the others are left as they are,
   * although `finally` blocks around them do not run then. Whether somebody takes what they would end with, as
   * `Promise.all` does, or the handler only had them in hand for later, cannot be seen from here: in the latter case it
   * would be an unhandled rejection. That of this signal alone could be ignored, but not what a `catch` makes of it,
   * which would end the process.
   */
  private end([ask, ...others]: readonly OpenAsk[]): void {
    if (ask === undefined || this.round.isOver()) return;
    ask.end(new RoundEnded());
    setImmediate(() => {
      if (!this.round.hasEnded()) this.end(others);
    });
  }
}
