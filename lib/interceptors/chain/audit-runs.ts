const MAX_RUNNING = 100;

/** Audit interceptors that run after the decision. Their number is bounded, and a shutdown ends them. */
export class AuditRuns {
  private running = 0;
  private readonly runs = new Map<Promise<void>, () => void>();

  get isFull(): boolean {
    return this.running >= MAX_RUNNING;
  }

  add(audit: Promise<unknown>): void {
    this.running++;
    const ended = () => void this.running--;
    audit.then(ended, ended);
  }

  keep(run: Promise<void>, giveUp: () => void): void {
    const ended = () => void this.runs.delete(kept);
    const kept: Promise<void> = run.then(ended, ended);
    this.runs.set(kept, giveUp);
  }

  async close(): Promise<void> {
    for (const giveUp of this.runs.values()) giveUp();
    await Promise.all(this.runs.keys());
  }
}
