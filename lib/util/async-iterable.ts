import { Observable } from 'rxjs';

/** Whether a value is a stream of Node's that holds bytes, and so one value. One of objects is an async iterable. */
export function isByteStream(value: unknown): boolean {
  const { pipe, readableObjectMode } = (value ?? {}) as { pipe?: unknown; readableObjectMode?: unknown };
  return typeof pipe === 'function' && readableObjectMode === false;
}

/** Whether a value is an async iterable that is to be iterated. */
export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value && !isByteStream(value);

/** The values of an async iterable, and what its generator returns. It is ended when nobody listens any more. */
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
