import { lastValueFrom, map, Observable, takeUntil } from 'rxjs';

/**
 * Waits for the last value, and passes each earlier value to `onEarlier`. @throws the signal's reason when it aborts
 */
export function lastValue(
  source: Observable<unknown>,
  signal: AbortSignal,
  onEarlier: (value: unknown, index: number) => void,
): Promise<unknown> {
  let last: unknown;
  // A `map`, because an error that `onEarlier` throws in an observer would end the process.
  const observed = source.pipe(
    map((value, index) => {
      if (index > 0) onEarlier(last, index);
      return (last = value);
    }),
    takeUntil(failing(signal)),
  );
  return lastValueFrom(observed, { defaultValue: undefined });
}

/** Fails with the signal's reason. */
const failing = (signal: AbortSignal): Observable<never> =>
  new Observable(subscriber => {
    const fail = () => subscriber.error(signal.reason);
    if (signal.aborted) return fail();
    signal.addEventListener('abort', fail, { once: true });
    return () => signal.removeEventListener('abort', fail);
  });
