import { MAX_TIMER_MS } from '../../util/max-timer.js';

/**
 * A signal that fires when its time is up. Unlike `AbortSignal.timeout`, it keeps the process alive until it fires or is
 * cleared: a process that only waits for a host would otherwise end before the host has failed.
 */
export class TimeLimit {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;

  /** @param ms milliseconds */
  constructor(ms: number) {
    const timeUp = () =>
      this.controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    this.timer = setTimeout(timeUp, Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS));
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Lets the process end although the time is not up. */
  release(): void {
    this.timer.unref();
  }

  /** To be called once nobody waits any more. */
  clear(): void {
    clearTimeout(this.timer);
  }
}
