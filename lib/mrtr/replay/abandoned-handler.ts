/** How long a handler may take to end after its round has, in milliseconds: what its `finally` blocks need. */
const GRACE_MS = 1_000;

/** More than `finally` blocks use on the way out; a loop around a `catch` uses without end, and would let nothing else run. */
const MAX_REFUSED = 1_000;

/** Has a call end whose handler does not: one that takes what its questions are refused with, and goes on. */
export class AbandonedHandler {
  /** Told why nobody waits for the handler any more. */
  onLeft?: (reason: unknown) => void;
  /** Whether nobody waits for the handler any more. */
  isLeft = false;
  private refused = 0;
  private grace?: NodeJS.Timeout;

  /** Rejects with a reason; but never settles once nobody waits, or the handler was refused too often. */
  async refuse(reason: unknown): Promise<never> {
    if (!this.isLeft && this.refused++ < MAX_REFUSED) throw reason;
    this.leave(reason);
    return new Promise(() => undefined);
  }

  /** Leaves soon, unless closed by then. */
  leaveSoon(reason: unknown): void {
    this.grace ??= setTimeout(() => this.leave(reason), GRACE_MS).unref();
  }

  close(): void {
    clearTimeout(this.grace);
  }

  private leave(reason: unknown): void {
    if (this.isLeft) return;
    this.isLeft = true;
    this.onLeft?.(reason);
  }
}
