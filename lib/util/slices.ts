/** How long work may keep the event loop, in milliseconds. */
const SLICE_MS = 5;

/** Runs small pieces of work in order. When many come at once, it lets other work of the process in between. */
export class Slices {
  private readonly waiting: (() => void)[] = [];
  private next = 0;
  private startedAt?: number;

  /** @param work does not throw */
  add(work: () => void): void {
    this.waiting.push(work);
    if (this.next === 0 && this.waiting.length === 1) this.run();
  }

  private run(): void {
    if (this.startedAt === undefined) {
      this.startedAt = performance.now();
      setImmediate(() => {
        this.startedAt = undefined;
        if (this.waiting.length > 0) this.run();
      });
    }
    while (this.next < this.waiting.length && performance.now() - this.startedAt < SLICE_MS) {
      this.waiting[this.next++]();
    }
    if (this.next < this.waiting.length) return;
    this.waiting.length = 0;
    this.next = 0;
  }
}
