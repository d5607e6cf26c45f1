import type { Observable } from 'rxjs';

/**
 * Waits for an Observable's last value. Each value that another one follows goes to `onEarlier`, and the
 * subscription ends when the signal fires.
 */
export function lastValue(
  source: Observable<unknown>,
  signal: AbortSignal,
  onEarlier: (value: unknown, index: number) => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let last: unknown;
    const onAbort = () => {
      subscription.unsubscribe();
      reject(signal.reason instanceof Error ? signal.reason : new Error('The call was cancelled'));
    };
    const settle = (then: () => void) => {
      signal.removeEventListener('abort', onAbort);
      then();
    };
    const subscription = source.subscribe({
      next: value => {
        if (count > 0) onEarlier(last, count);
        last = value;
        count += 1;
      },
      error: (error: Error) => settle(() => reject(error)),
      complete: () => settle(() => resolve(last)),
    });
    if (signal.aborted) onAbort();
    else if (!subscription.closed) signal.addEventListener('abort', onAbort, { once: true });
  });
}
