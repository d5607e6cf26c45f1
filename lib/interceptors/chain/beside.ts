/** How many audit interceptors may run at a time that nobody waits for. */
const MAX_RUNNING = 100;

/** The audit interceptors that run beside the messages of a server: their number has a bound, and a shutdown ends them. */
export class Beside {
  private running = 0;
  private readonly runs = new Map<Promise<void>, () => void>();

  /** Whether no further one may start. */
  get isFull(): boolean {
    return this.running >= MAX_RUNNING;
  }

  /** Counts an audit interceptor until it has ended. */
  add(audit: Promise<unknown>): void {
    this.running++;
    const ended = () => void this.running--;
    audit.then(ended, ended);
  }

  /**
   * Keeps what is left of a run until it has ended.
   * @param giveUp ends it
   */
  keep(run: Promise<void>, giveUp: () => void): void {
    const kept: Promise<void> = run.then(
      () => void this.runs.delete(kept),
      () => void this.runs.delete(kept),
    );
    this.runs.set(kept, giveUp);
  }

  /** Gives up what still runs. */
  async close(): Promise<void> {
    for (const giveUp of this.runs.values()) giveUp();
    await Promise.all(this.runs.keys());
  }
}
