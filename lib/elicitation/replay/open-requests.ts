import { type LazyAbort, unlessAborted } from '../../util/abort.js';
import type { ReplyChannel } from '../../protocol/mcp-call.js';
import type { PreparedRequest } from '../requests/input-request.js';
import type { OpenRequest } from './journal.js';
import { RoundEnded } from '../requests/round-ended.js';

interface OpenAsk {
  readonly prepared: PreparedRequest;
  readonly end: (reason: RoundEnded) => void;
}

interface RequestsOptions {
  readonly reply: Pick<ReplyChannel, 'signal'>;
  readonly over: LazyAbort;
  readonly busy: Set<Promise<unknown>>;
  readonly hasEnded: () => boolean;
  readonly onEnd: () => void;
}

/** The input requests of a round that only the client's next round can answer. */
export class OpenRequests {
  private readonly asks = new Map<string, OpenAsk>();
  private ending?: NodeJS.Immediate;
  /** Set when the round has ended: a handler that still runs has caught the error that ends the round. */
  isHandedOut = false;

  constructor(private readonly options: RequestsOptions) {}

  add(key: string, prepared: PreparedRequest): Promise<never> {
    return new Promise((_, reject) => {
      if (this.options.over.isAborted) return reject(new RoundEnded());
      this.asks.set(key, { prepared, end: reject });
      this.endSoon();
    });
  }

  get(key: string): PreparedRequest | undefined {
    return this.asks.get(key)?.prepared;
  }

  recorded(): Record<string, OpenRequest> {
    const entries = [...this.asks].map(([key, { prepared }]) => {
      const { request, fingerprint } = prepared;
      return [key, { method: request.method, fingerprint }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** Delays the end of the round until the work has ended. */
  async after<T>(work: Promise<T>): Promise<T> {
    const { busy } = this.options;
    busy.add(work);
    try {
      return await work;
    } finally {
      busy.delete(work);
    }
  }

  idle(): Promise<unknown> {
    const { busy } = this.options;
    if (busy.size === 0) return Promise.resolve();
    return unlessAborted(Promise.allSettled(busy), this.options.reply.signal).catch(() => undefined);
  }

  /** Input requests of the same turn of the event loop belong to one round. */
  private endSoon(): void {
    this.ending ??= setImmediate(() => {
      this.ending = undefined;
      const { busy, over, onEnd } = this.options;
      if (over.isAborted) return;
      if (busy.size > 0 && !this.options.reply.signal.aborted) {
        void this.idle().then(() => this.endSoon());
        return;
      }
      this.isHandedOut = true;
      onEnd();
      this.end([...this.asks.values()].reverse());
    });
  }

  /**
   * Rejects the last one first, and the others only if the handler still runs. A promise that the handler
   * holds without awaiting would be rejected unhandled, and an error from its `catch` would end the process.
   */
  private end([ask, ...others]: readonly OpenAsk[]): void {
    if (ask === undefined || this.options.over.isAborted) return;
    ask.end(new RoundEnded());
    if (others.length === 0) return;
    setImmediate(() => {
      if (!this.options.hasEnded()) this.end(others);
    });
  }
}

/** Time for `finally` blocks after the round, in milliseconds. */
const GRACE_MS = 1_000;

/** Maximum refused input requests. A loop around a `catch` would ask without end and block the process. */
const MAX_REFUSED = 1_000;

/** Ends a call whose handler keeps running after its round ended. */
export class AbandonedHandler {
  /** Called with the reason when the call ends without the handler. */
  onLeft?: (reason: unknown) => void;
  isLeft = false;
  private refused = 0;
  private grace?: NodeJS.Timeout;

  /** Rejects with the reason. For an abandoned handler, or after too many refusals, the promise never settles. */
  async refuse(reason: unknown): Promise<never> {
    if (!this.isLeft && this.refused++ < MAX_REFUSED) throw reason;
    this.leave(reason);
    return new Promise(() => undefined);
  }

  /** Ends the call after the grace period, unless it is closed before. */
  leaveSoon(): void {
    this.grace ??= setTimeout(() => this.leave(new RoundEnded()), GRACE_MS).unref();
  }

  close(): void {
    clearTimeout(this.grace);
  }

  private leave(reason: unknown): void {
    if (this.isLeft) return;
    this.isLeft = true;
    this.onLeft?.(reason);
  }
}
