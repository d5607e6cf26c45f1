import { MAX_TIMER_MS } from './max-timer.js';

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

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Lets the process end before the time limit. */
  release(): void;
  clear(): void;
}

/**
 * Unlike `AbortSignal.timeout`, it keeps the process running, so that a process that only waits for a host sees the
 * failure.
 * @param reason creates the signal's reason. Default: a `TimeoutError`
 */
export function timeLimit(ms: number, reason: () => Error = timeoutError): TimeLimit {
  const controller = new AbortController();
  const timeUp = () => controller.abort(reason());
  const timer = setTimeout(timeUp, Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS));
  return {
    signal: controller.signal,
    release: () => void timer.unref(),
    clear: () => clearTimeout(timer),
  };
}

const timeoutError = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError');
