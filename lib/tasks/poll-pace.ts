/** Polls of one task that the server answers each second, on average. */
const MAX_PER_SECOND = 20;

/** Limits how often a caller polls one task. */
export class PollPace {
  private left = MAX_PER_SECOND;
  private last = performance.now();
  private isFree = true;

  /** Allows the next poll, because the task has just changed. */
  free(): void {
    this.isFree = true;
  }

  /** Counts one poll. @returns whether it is too early */
  isTooFast(): boolean {
    const now = performance.now();
    this.left = Math.min(MAX_PER_SECOND, this.left + ((now - this.last) / 1000) * MAX_PER_SECOND);
    this.last = now;
    if (this.isFree) this.isFree = false;
    else if (this.left < 1) return true;
    else this.left -= 1;
    return false;
  }
}
