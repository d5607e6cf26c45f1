/** Limits how many tasks run at a time. Further tasks wait in order. */
export class ConcurrencyLimit {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly max: number) {}

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.max) await new Promise<void>(resolve => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
