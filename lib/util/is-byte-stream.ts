/** Whether a value is a stream of Node's that holds bytes, and so one value. One of objects is an async iterable. */
export function isByteStream(value: unknown): boolean {
  const { pipe, readableObjectMode } = (value ?? {}) as { pipe?: unknown; readableObjectMode?: unknown };
  return typeof pipe === 'function' && readableObjectMode === false;
}
