import { MAX_TIMER_MS } from '../../util/max-timer.js';

/** The clock of the chain. It is replaceable, so that tests and simulations can control the time. */
export interface Clock {
  now(): number;
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** The call whose end ends a run. Its signal is only read to wait, because reading it may create it. */
export interface Abortable {
  readonly signal?: AbortSignal;
  /** Whether the signal has aborted. Default: the signal's own value. */
  readonly isEnded?: boolean;
}

export class DeadlineWatch {
  private readonly waiting = new Set<(isRunGivenUp: boolean) => void>();
  private isOver = false;

  constructor(
    private readonly clock: Clock,
    private call: Abortable = {},
  ) {}

  get isGivenUp(): boolean {
    return this.isOver || (this.call.isEnded ?? this.call.signal?.aborted ?? false);
  }

  /** @param giveUp returns the error for a missed deadline or an ended run */
  within<T>(value: PromiseLike<T>, deadline: number, giveUp: (isRunGivenUp: boolean) => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (isRunGivenUp: boolean) => {
        stop();
        reject(giveUp(isRunGivenUp));
      };
      // A timer has a maximum delay.
      const ms = Math.min(deadline - this.clock.now(), MAX_TIMER_MS);
      const stopTimer = this.clock.after(ms, () => fail(false));
      const stop = () => {
        stopTimer();
        this.waiting.delete(fail);
        if (this.waiting.size === 0) this.call.signal?.removeEventListener('abort', this);
      };
      this.waiting.add(fail);
      this.call.signal?.addEventListener('abort', this);
      // Wrapped, because a thenable may have a `then` that throws.
      void new Promise<T>(done => done(value)).then(resolve, reject).finally(stop);
      if (this.isGivenUp) fail(true);
    });
  }

  /** Continues without the signal. On some transports, a call's signal aborts as soon as the call is answered. */
  detach(): void {
    if (this.waiting.size > 0) this.call.signal?.removeEventListener('abort', this);
    this.call = {};
  }

  giveUp(): void {
    this.isOver = true;
    for (const fail of [...this.waiting]) fail(true);
  }

  handleEvent(): void {
    this.giveUp();
  }
}
