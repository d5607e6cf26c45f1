import type { Clock } from './clock.js';

/**
 * Watches the deadlines of one run with one timer, which is set only once something is really waited for: most local
 * interceptors have answered before a timer would be of use.
 */
export class DeadlineWatch {
  private readonly watched = new Set<Watched>();
  private stopTimer?: () => void;
  private timerAt = Infinity;

  constructor(private readonly clock: Clock) {}

  /** Calls back when the time comes or the run is given up, unless the returned function is called before. */
  at(deadline: number, onEnd: (givenUp: boolean) => void): () => void {
    const watched = { deadline, onEnd };
    this.watched.add(watched);
    if (deadline < this.timerAt) this.arm(deadline);
    return () => this.watched.delete(watched);
  }

  /** Ends everything that is waited for, now. */
  giveUp(): void {
    for (const { onEnd } of [...this.watched]) onEnd(true);
    this.close();
  }

  /** Stops watching. */
  close(): void {
    this.watched.clear();
    this.stopTimer?.();
  }

  private arm(deadline: number): void {
    this.stopTimer?.();
    this.timerAt = deadline;
    this.stopTimer = this.clock.after(Math.max(0, deadline - this.clock.now()), () => this.onTimer());
  }

  private onTimer(): void {
    this.timerAt = Infinity;
    const now = this.clock.now();
    for (const watched of [...this.watched]) {
      if (watched.deadline > now) continue;
      this.watched.delete(watched);
      watched.onEnd(false);
    }
    const next = Math.min(...[...this.watched].map(({ deadline }) => deadline));
    if (next !== Infinity) this.arm(next);
  }
}

interface Watched {
  readonly deadline: number;
  readonly onEnd: (givenUp: boolean) => void;
}
