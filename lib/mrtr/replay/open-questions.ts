import { unlessAborted } from '../../util/abort.js';
import type { PreparedQuestion } from '../../input/input-request.js';
import type { OpenQuestion } from './journal.js';
import { RoundEnded } from '../../input/round-ended.js';

/** How long questions wait for steps before that is told, in milliseconds. */
const SLOW_MS = 10_000;

interface OpenAsk {
  readonly prepared: PreparedQuestion;
  readonly end: (reason: RoundEnded) => void;
}

/** The round that questions belong to. */
interface QuestionsOptions {
  /** Fires when the client is gone. */
  readonly signal: AbortSignal;
  /** Fires when nobody waits for an answer any more. */
  readonly over: AbortSignal;
  /** The steps that the end of the round waits for. */
  readonly busy: Set<Promise<unknown>>;
  /** Whether the handler's own method has ended. */
  readonly hasEnded: () => boolean;
  /** Called when the questions are handed out. */
  readonly onEnd: () => void;
  /** Called with a question that waits long for steps. */
  readonly onSlow?: (key: string) => void;
}

/** The questions of a round that only the client's next one can answer. */
export class OpenQuestions {
  private readonly asks = new Map<string, OpenAsk>();
  private ending?: NodeJS.Immediate;
  /** Whether they have been handed out. A handler that goes on from then on has caught the signal. */
  isHandedOut = false;

  constructor(private readonly options: QuestionsOptions) {}

  /** Never answers: it rejects once the round ends. */
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

  /** The questions for the journal. */
  recorded(): Record<string, OpenQuestion> {
    const entries = [...this.asks].map(([key, { prepared }]) => {
      const { request, fingerprint } = prepared;
      return [key, { method: request.method, fingerprint }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** Keeps the round from ending until some work is done. */
  async after<T>(work: Promise<T>): Promise<T> {
    const { busy } = this.options;
    busy.add(work);
    try {
      return await work;
    } finally {
      busy.delete(work);
    }
  }

  /** Settles once nothing runs whose result is to be remembered, or the client is gone. */
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
   * The handler most likely waits for its last question. Once it has ended, the others are left as they are, although
   * `finally` blocks around them do not run then. Nothing tells here whether the handler waits for them, as `Promise.all`
   * does, or only holds them for later: then their rejections would be unhandled. That of this signal could be ignored, but
   * not what a `catch` makes of it, which would end the process.
   */
  private end([ask, ...others]: readonly OpenAsk[]): void {
    if (ask === undefined || this.options.over.aborted) return;
    ask.end(new RoundEnded());
    setImmediate(() => {
      if (!this.options.hasEnded()) this.end(others);
    });
  }
}
