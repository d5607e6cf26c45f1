/** Polls of one task that a node answers each second, on average. */
const MAX_PER_SECOND = 20;

interface Pace {
  left: number;
  last: number;
  /** The revision that the latest poll has shown; undefined if the next poll is allowed. */
  seen?: number;
}

/** Limits how often a caller polls its tasks. The first poll after a change of the task is always allowed. */
export class PollPace {
  private readonly paces = new Map<string, Pace>();
  private sweptAt = performance.now();

  /** Allows the next poll of a task, because its caller has sent something. */
  free(id: string): void {
    const pace = this.paces.get(id);
    if (pace) pace.seen = undefined;
  }

  /** Whether the next request would be too early. */
  isSpent(id: string): boolean {
    const pace = this.paces.get(id);
    return pace !== undefined && leftIn(pace, performance.now()) < 1;
  }

  /**
   * Counts one request.
   * @param revision what a poll shows; undefined for a request that shows nothing
   * @returns whether it is too early
   */
  isTooFast(id: string, revision?: number): boolean {
    const now = performance.now();
    this.sweep(now);
    const pace = this.paces.get(id) ?? { left: MAX_PER_SECOND, last: now };
    this.paces.set(id, pace);
    pace.left = leftIn(pace, now);
    pace.last = now;
    if (revision !== undefined && pace.seen !== revision) pace.seen = revision;
    else if (pace.left < 1) return true;
    else pace.left -= 1;
    return false;
  }

  /** Forgets tasks that nobody has polled for a second: they may be polled at the full pace again. */
  private sweep(now: number): void {
    if (now - this.sweptAt < 1000) return;
    this.sweptAt = now;
    for (const [id, { last }] of this.paces) if (now - last >= 1000) this.paces.delete(id);
  }
}

const leftIn = ({ left, last }: Pace, now: number): number =>
  Math.min(MAX_PER_SECOND, left + ((now - last) / 1000) * MAX_PER_SECOND);
