import type { LoggerService } from '@nestjs/common';

/** How often failures that go on are logged, in milliseconds. */
const REPEAT_MS = 60_000;
/** How long a backend must answer before its next failure is logged at once, in milliseconds. */
const SETTLED_MS = 10_000;

/** Logs that a backend fails and that it answers again. Counts the failures in between. */
export class BackendLog {
  private isFailing = false;
  /** The failures that were not logged. */
  private count = 0;
  private nextAt = 0;

  constructor(
    private readonly backend: string,
    private readonly logger: Pick<LoggerService, 'warn' | 'log'>,
  ) {}

  failed(problem: string): void {
    const now = Date.now();
    if (now < this.nextAt) {
      this.count += 1;
      return;
    }
    const others = this.count > 0 ? ` (${this.count} failures before this one were not logged)` : '';
    this.logger.warn(`${problem}${others}`);
    this.isFailing = true;
    this.count = 0;
    this.nextAt = now + REPEAT_MS;
  }

  answered(): void {
    if (!this.isFailing) return;
    const others = this.count > 0 ? `, after ${this.count} more failures` : '';
    this.logger.log(`The backend "${this.backend}" answers again${others}`);
    this.isFailing = false;
    this.count = 0;
    this.nextAt = Math.min(this.nextAt, Date.now() + SETTLED_MS);
  }
}
