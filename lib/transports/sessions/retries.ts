const MAX_WAITING = 1000;

/** Repeats failed tasks on a store, in order, until the store is available again. */
export class Retries {
  private readonly waiting: (() => Promise<unknown>)[] = [];
  private isRetrying = false;

  get size(): number {
    return this.waiting.length;
  }

  /** Runs a task now. If it fails, or an earlier task still waits, the next `retry` runs it. */
  run(work: () => Promise<unknown>, onFailure: (error: Error) => unknown): void {
    if (this.waiting.length > 0) return this.keep(work);
    work().catch((error: Error) => {
      onFailure(error);
      this.keep(work);
    });
  }

  /** Runs the waiting tasks, up to the first failure. */
  async retry(): Promise<void> {
    if (this.isRetrying) return;
    this.isRetrying = true;
    try {
      for (let [work] = this.waiting; work; [work] = this.waiting) {
        await work();
        this.waiting.shift();
      }
    } catch {
      // The failure has been reported.
    } finally {
      this.isRetrying = false;
    }
  }

  private keep(work: () => Promise<unknown>): void {
    if (this.waiting.length < MAX_WAITING) this.waiting.push(work);
  }
}
