/** How long `finally` blocks may take after the round, in milliseconds. */
const GRACE_MS = 1_000;

/** A loop around a `catch` asks without end, and would block the process. */
const MAX_REFUSED = 1_000;

/** Ends a call whose handler keeps running after its round ended. */
export class AbandonedHandler {
  /** Called with the reason when the call ends without the handler. */
  onLeft?: (reason: unknown) => void;
  isLeft = false;
  private refused = 0;
  private grace?: NodeJS.Timeout;

  /** Rejects with the reason, but never settles for an abandoned handler or after too many refusals. */
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
