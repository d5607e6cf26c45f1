import { MAX_TIMER_MS } from '../../util/max-timer.js';

/** Time, as the chain needs it. The engine has none of its own, so that tests and simulations can bring theirs. */
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

export class DeadlineWatch {
  private readonly waiting = new Set<(isRunGivenUp: boolean) => void>();
  private isOver = false;

  constructor(
    private readonly clock: Clock,
    private signal?: AbortSignal,
  ) {}

  get isGivenUp(): boolean {
    return this.isOver || (this.signal?.aborted ?? false);
  }

  /** @param giveUp returns the error for a missed deadline or an ended run */
  within<T>(value: PromiseLike<T>, deadline: number, giveUp: (isRunGivenUp: boolean) => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (isRunGivenUp: boolean) => {
        stop();
        reject(giveUp(isRunGivenUp));
      };
      let stopTimer: () => void;
      const arm = () => {
        const ms = deadline - this.clock.now();
        // Too long for one timer, it is set again when that one is up.
        stopTimer = this.clock.after(Math.min(ms, MAX_TIMER_MS), ms > MAX_TIMER_MS ? arm : () => fail(false));
      };
      const stop = () => {
        stopTimer();
        this.waiting.delete(fail);
        if (this.waiting.size === 0) this.signal?.removeEventListener('abort', this);
      };
      arm();
      this.waiting.add(fail);
      this.signal?.addEventListener('abort', this);
      // Wrapped: a promise can have a `then` of its own, which may throw.
      void new Promise<T>(done => done(value)).then(resolve, reject).finally(stop);
      if (this.isGivenUp) fail(true);
    });
  }

  /** Goes on watching, but not the signal: a call's fires on some transports as soon as it has been answered. */
  detach(): void {
    this.signal?.removeEventListener('abort', this);
    this.signal = undefined;
  }

  giveUp(): void {
    this.isOver = true;
    for (const fail of [...this.waiting]) fail(true);
  }

  handleEvent(): void {
    this.giveUp();
  }
}
