import { Observable } from 'rxjs';

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | undefined | null)?.then === 'function';

/** Like `await`, which takes longer for a value that is not a promise. */
export function after<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | PromiseLike<R>,
): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : (next(value) as R);
}

/** A Node byte stream counts as one value; an object stream counts as an async iterable. */
export function isByteStream(value: unknown): boolean {
  const { pipe, readableObjectMode } = (value ?? {}) as { pipe?: unknown; readableObjectMode?: unknown };
  return typeof pipe === 'function' && readableObjectMode === false;
}

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value && !isByteStream(value);

/** Emits the generator's values and its result. Unsubscribing ends the iterator. */
export const valuesOf = (source: AsyncIterable<unknown>): Observable<unknown> =>
  new Observable(subscriber => {
    const iterator: AsyncIterator<unknown, unknown> = source[Symbol.asyncIterator]();
    const pull = async (): Promise<void> => {
      for (;;) {
        const { done, value } = await iterator.next();
        if (subscriber.closed) return;
        if (!done || value !== undefined) subscriber.next(value);
        if (done) return subscriber.complete();
      }
    };
    pull().catch((error: unknown) => subscriber.error(error));
    return () => void iterator.return?.().then(undefined, () => undefined);
  });
