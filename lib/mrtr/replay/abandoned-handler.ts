/** How long a handler may take to end after its round has, in milliseconds: what its `finally` blocks need. */
const GRACE_MS = 1_000;

/** More questions than `finally` blocks ask. A loop around a `catch` asks without end, and nothing else would run. */
const MAX_REFUSED = 1_000;

/** Ends a call whose handler keeps running after its round ended. */
export class AbandonedHandler {
  /** Called with the reason when nobody waits for the handler any more. */
  onLeft?: (reason: unknown) => void;
  /** Whether nobody waits for the handler any more. */
  isLeft = false;
  private refused = 0;
  private grace?: NodeJS.Timeout;

  /** Rejects with the reason. It never settles if nobody waits any more, or if the handler was refused too often. */
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
