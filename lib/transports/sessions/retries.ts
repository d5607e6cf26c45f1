/** The most pieces of work that wait. */
const MAX_WAITING = 1000;

/** Work on a store that must not be lost, nor change its order, while the store cannot be reached. */
export class Retries {
  private readonly waiting: (() => Promise<unknown>)[] = [];
  private isRetrying = false;

  get size(): number {
    return this.waiting.length;
  }

  /** Does something now or, if that fails or something earlier has failed, with a later `retry`. */
  run(work: () => Promise<unknown>, onFailure: (error: Error) => unknown): void {
    if (this.waiting.length > 0) return this.keep(work);
    work().catch((error: Error) => {
      onFailure(error);
      this.keep(work);
    });
  }

  /** Does what waits, up to the first failure. */
  async retry(): Promise<void> {
    if (this.isRetrying) return;
    this.isRetrying = true;
    try {
      for (let [work] = this.waiting; work; [work] = this.waiting) {
        await work();
        this.waiting.shift();
      }
    } catch {
      // It has been reported.
    } finally {
      this.isRetrying = false;
    }
  }

  private keep(work: () => Promise<unknown>): void {
    if (this.waiting.length < MAX_WAITING) this.waiting.push(work);
  }
}
