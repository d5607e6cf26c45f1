import { MAX_TIMER_MS } from '../../util/max-timer.js';

/** Unlike `AbortSignal.timeout`, keeps the process alive, so that a process that only waits for a host sees it fail. */
export class TimeLimit {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;

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

  clear(): void {
    clearTimeout(this.timer);
  }
}
