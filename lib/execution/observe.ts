import { lastValueFrom, map, Observable, takeUntil } from 'rxjs';

/**
 * Waits for an Observable's last value. Each value that another one follows goes to `onEarlier`, and the
 * subscription ends when the signal fires.
 * @throws the signal's reason, once it fires
 */
export function lastValue(
  source: Observable<unknown>,
  signal: AbortSignal,
  onEarlier: (value: unknown, index: number) => void,
): Promise<unknown> {
  let last: unknown;
  // What `onEarlier` throws is an error of the stream here; in an observer it would end the process.
  const observed = source.pipe(
    map((value, index) => {
      if (index > 0) onEarlier(last, index);
      return (last = value);
    }),
    takeUntil(failing(signal)),
  );
  return lastValueFrom(observed, { defaultValue: undefined });
}

/** Fails with the signal's reason, once it fires. */
const failing = (signal: AbortSignal): Observable<never> =>
  new Observable(subscriber => {
    const fail = () => subscriber.error(signal.reason);
    if (signal.aborted) return fail();
    signal.addEventListener('abort', fail, { once: true });
    return () => signal.removeEventListener('abort', fail);
  });
