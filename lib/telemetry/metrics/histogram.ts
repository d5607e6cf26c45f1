/** How many values lie at or below each bound, and above all of them. */
export interface HistogramSnapshot {
  readonly count: number;
  /** In the unit of the bounds. */
  readonly sum: number;
  readonly bounds: readonly number[];
  /** One more than there are bounds: the last is for values above all of them. */
  readonly counts: readonly number[];
}

export class Histogram {
  private readonly counts: number[];
  private count = 0;
  private sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  record(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > this.bounds[index]) index += 1;
    this.counts[index] += 1;
    this.count += 1;
    this.sum += value;
  }

  snapshot(): HistogramSnapshot {
    const { count, sum, bounds } = this;
    return { count, sum, bounds, counts: [...this.counts] };
  }
}
