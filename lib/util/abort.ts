/** An abort signal that is created on demand, because most are never read. */
export class LazyAbort {
  private controller?: AbortController;
  private reason?: () => Error;

  get isAborted(): boolean {
    return this.reason !== undefined;
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.reason) this.controller.abort(this.reason());
    }
    return this.controller.signal;
  }

  /** @param reason called only if the signal is read */
  abort(reason: () => Error): void {
    this.reason ??= reason;
    this.controller?.abort(this.reason());
  }
}

/** The result of a promise, or the signal's reason if the signal aborts first. The promise itself continues. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // The promise is not awaited any more, and an unhandled rejection would end the process.
    promise.catch(() => undefined);
    throw signal.reason as Error;
  }
  let onAbort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
