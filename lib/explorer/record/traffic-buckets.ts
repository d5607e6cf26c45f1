interface Bucket {
  calls: number;
  errors: number;
}

const PERIOD_MS = 5000;
const PERIODS = 60;

/** Calls and errors of the latest five minutes, in periods of five seconds. */
export class TrafficBuckets {
  /** By the number of the period, modulo the number of periods. */
  private readonly buckets = Array.from({ length: PERIODS }, (): Bucket => ({ calls: 0, errors: 0 }));
  private last = 0;

  add(at: number, isError: boolean): void {
    this.advance(at);
    const bucket = this.buckets[this.last % PERIODS];
    bucket.calls += 1;
    if (isError) bucket.errors += 1;
  }

  /** The oldest first. */
  latest(at: number): Bucket[] {
    this.advance(at);
    return this.buckets.map((_, index) => ({ ...this.buckets[(this.last + 1 + index) % PERIODS] }));
  }

  private advance(at: number): void {
    const now = Math.floor(at / PERIOD_MS);
    for (let period = Math.max(this.last + 1, now - PERIODS + 1); period <= now; period++) {
      this.buckets[period % PERIODS] = { calls: 0, errors: 0 };
    }
    this.last = Math.max(this.last, now);
  }
}
