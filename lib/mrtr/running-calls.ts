import { setTimeout as pause } from 'node:timers/promises';

/** Calls that run, and may be waiting for a client: whoever ends them waits for what they still have to do. */
export class RunningCalls {
  private readonly running = new Set<Promise<unknown>>();

  /** Keeps an eye on one until it settles. */
  add(call: Promise<unknown>): void {
    const ended: Promise<unknown> = call.then(
      () => this.running.delete(ended),
      () => this.running.delete(ended),
    );
    this.running.add(ended);
  }

  /**
   * Waits until all have ended, but not longer than so many milliseconds.
   * @returns how many have not
   */
  async ended(timeoutMs: number): Promise<number> {
    const over = new AbortController();
    let isLate = false;
    const late = pause(timeoutMs, undefined, { signal: over.signal }).then(
      () => (isLate = true),
      () => undefined,
    );
    while (this.running.size > 0 && !isLate) await Promise.race([late, Promise.all(this.running)]);
    over.abort();
    return this.running.size;
  }
}
