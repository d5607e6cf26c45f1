import { StreamableFile } from '@nestjs/common';
import { types } from 'node:util';
import { isByteStream } from '../util/async-iterable.js';

/**
 * Checks whether a handler's return value can be sent. It does not look inside the value.
 * @throws Error for a value that JSON cannot hold (a Map, a Set, an Error, a function or a symbol), for a stream of
 * bytes and for bytes
 */
export function assertSendable(value: unknown): void {
  const remedy = lost(value) ?? ofBytes(value);
  if (remedy !== undefined) throw new Error(`it returned ${remedy}`);
}

/** The same check for a resource, which may return bytes. */
export function assertSendableAsResource(value: unknown): void {
  const remedy = lost(value) ?? (isByteStream(value) ? A_STREAM : undefined);
  if (remedy !== undefined) throw new Error(`it returned ${remedy}`);
}

/** The remedy if a result is invalid although its handler returned a valid one. */
export const IF_INTERCEPTED =
  'if a Nest interceptor changed the result, make it skip calls whose context.getType() is "mcp"';

/**
 * Whether a value is Nest's `StreamableFile`. Also checked by shape, because an application may use another copy of
 * `@nestjs/common`.
 */
export const isStreamableFile = (value: unknown): value is StreamableFile =>
  value instanceof StreamableFile ||
  (typeof (value as Partial<StreamableFile> | null)?.getStream === 'function' &&
    typeof (value as Partial<StreamableFile>).getHeaders === 'function');

const A_STREAM =
  'a stream of bytes, which the server does not read: return new StreamableFile(stream) in a resource';

function lost(value: unknown): string | undefined {
  if (types.isMap(value)) return 'a Map, which JSON cannot hold: return Object.fromEntries(map)';
  if (types.isSet(value)) return 'a Set, which JSON cannot hold: return [...set]';
  if (types.isNativeError(value) || value instanceof Error) {
    return 'an Error, which JSON writes as {}: throw it';
  }
  if (typeof value === 'function') return 'a function, which JSON cannot hold: return its result';
  if (typeof value === 'symbol') return 'a symbol, which JSON cannot hold: return a string';
  return undefined;
}

function ofBytes(value: unknown): string | undefined {
  const remedy =
    'which only a resource may return: return content with their Base64, such as { type: "image", data, mimeType }';
  if (types.isUint8Array(value)) return `bytes, ${remedy}`;
  if (isStreamableFile(value)) return `a StreamableFile, ${remedy}`;
  return isByteStream(value) ? A_STREAM : undefined;
}
