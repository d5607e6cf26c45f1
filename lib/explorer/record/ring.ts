/** The latest of many values: past the bound, the oldest is overwritten. */
export class Ring<T> {
  private readonly values: T[] = [];
  private count = 0;

  constructor(private readonly max: number) {}

  /** How many there ever were. */
  get total(): number {
    return this.count;
  }

  push(value: T): void {
    this.values[this.count % this.max] = value;
    this.count += 1;
  }

  /** The latest first. */
  latest(): T[] {
    const start = this.count % this.max;
    return [...this.values.slice(start), ...this.values.slice(0, start)].reverse();
  }
}
