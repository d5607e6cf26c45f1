import { unlessAborted } from '../../util/abort.js';
import type { PreparedQuestion } from '../../input/input-request.js';
import type { OpenQuestion } from './journal.js';
import { RoundEnded } from '../../input/round-ended.js';

/** How long questions wait for steps before a warning, in milliseconds. */
const SLOW_MS = 10_000;

interface OpenAsk {
  readonly prepared: PreparedQuestion;
  readonly end: (reason: RoundEnded) => void;
}

interface QuestionsOptions {
  /** Fires when the client is gone. */
  readonly signal: AbortSignal;
  /** Fires when the round is over. */
  readonly over: AbortSignal;
  /** The end of the round waits for these steps. */
  readonly busy: Set<Promise<unknown>>;
  readonly hasEnded: () => boolean;
  readonly onEnd: () => void;
  readonly onSlow?: (key: string) => void;
}

/** The questions of a round that only the client's next round can answer. */
export class OpenQuestions {
  private readonly asks = new Map<string, OpenAsk>();
  private ending?: NodeJS.Immediate;
  /** A handler that runs after this has caught the signal. */
  isHandedOut = false;

  constructor(private readonly options: QuestionsOptions) {}

  /** Rejects when the round ends. */
  add(key: string, prepared: PreparedQuestion): Promise<never> {
    return new Promise((_, reject) => {
      if (this.options.over.aborted) return reject(new RoundEnded());
      this.asks.set(key, { prepared, end: reject });
      this.endSoon();
    });
  }

  get(key: string): PreparedQuestion | undefined {
    return this.asks.get(key)?.prepared;
  }

  recorded(): Record<string, OpenQuestion> {
    const entries = [...this.asks].map(([key, { prepared }]) => {
      const { request, fingerprint } = prepared;
      return [key, { method: request.method, fingerprint }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** The round does not end before the work. */
  async after<T>(work: Promise<T>): Promise<T> {
    const { busy } = this.options;
    busy.add(work);
    try {
      return await work;
    } finally {
      busy.delete(work);
    }
  }

  /** Settles when all steps have ended, or the client is gone. */
  idle(): Promise<unknown> {
    const { busy, signal } = this.options;
    return unlessAborted(Promise.allSettled(busy), signal).catch(() => undefined);
  }

  /** Questions of the same turn of the event loop are one round. */
  private endSoon(): void {
    this.ending ??= setImmediate(() => {
      this.ending = undefined;
      const { busy, signal, over, onEnd, onSlow } = this.options;
      if (over.aborted) return;
      if (busy.size > 0 && !signal.aborted) {
        const isSlow = setTimeout(() => onSlow?.([...this.asks.keys()][0]), SLOW_MS).unref();
        void this.idle().then(() => {
          clearTimeout(isSlow);
          this.endSoon();
        });
        return;
      }
      this.isHandedOut = true;
      onEnd();
      this.end([...this.asks.values()].reverse());
    });
  }

  /**
   * Ends the last question first, and the others only if the handler still runs: a promise that it holds without awaiting
   * would be rejected unhandled, and an error that its `catch` throws would end the process.
   */
  private end([ask, ...others]: readonly OpenAsk[]): void {
    if (ask === undefined || this.options.over.aborted) return;
    ask.end(new RoundEnded());
    setImmediate(() => {
      if (!this.options.hasEnded()) this.end(others);
    });
  }
}
