import { StreamableFile } from '@nestjs/common';
import { types } from 'node:util';
import { isByteStream } from '../util/async-iterable.js';

/**
 * Looks whether the value that a handler returned can be sent. What is inside it, JSON says.
 * @throws Error for what JSON loses: a Map, a Set, an Error, a function or a symbol; for a stream of bytes; and for bytes
 */
export function assertSendable(value: unknown): void {
  const remedy = lost(value) ?? ofBytes(value);
  if (remedy !== undefined) throw new Error(`it returned ${remedy}`);
}

/** The same for a resource, which may be bytes. */
export function assertSendableAsResource(value: unknown): void {
  const remedy = lost(value) ?? (isByteStream(value) ? A_STREAM : undefined);
  if (remedy !== undefined) throw new Error(`it returned ${remedy}`);
}

/** What to do where a result is invalid although its handler returned a good one. */
export const IF_INTERCEPTED =
  'if a Nest interceptor made it so, let it leave calls alone whose context.getType() is "mcp"';

/** Nest's `StreamableFile`; by shape as well, for an application may hold another copy of `@nestjs/common`. */
export const isStreamableFile = (value: unknown): value is StreamableFile =>
  value instanceof StreamableFile ||
  (typeof (value as Partial<StreamableFile> | null)?.getStream === 'function' &&
    typeof (value as Partial<StreamableFile>).getHeaders === 'function');

const A_STREAM =
  'a stream of bytes, whose end nothing waits for: return new StreamableFile(stream) in a resource';

function lost(value: unknown): string | undefined {
  if (types.isMap(value)) return 'a Map, which JSON has not: return Object.fromEntries(map)';
  if (types.isSet(value)) return 'a Set, which JSON has not: return [...set]';
  if (types.isNativeError(value) || value instanceof Error) {
    return 'an Error, of which JSON keeps nothing: throw it';
  }
  if (typeof value === 'function') return 'a function, which JSON has not: return what it returns';
  if (typeof value === 'symbol') return 'a symbol, which JSON has not: return a string';
  return undefined;
}

function ofBytes(value: unknown): string | undefined {
  const remedy =
    'which only a resource may: return content with their Base64, such as { type: "image", data, mimeType }';
  if (types.isUint8Array(value)) return `bytes, ${remedy}`;
  if (isStreamableFile(value)) return `a StreamableFile, ${remedy}`;
  return isByteStream(value) ? A_STREAM : undefined;
}
