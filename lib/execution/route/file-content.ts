import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { StreamableFile } from '@nestjs/common';

/** What Nest sends if nobody has set a media type. */
const UNKNOWN = 'application/octet-stream';

/**
 * Reads a file that a route returns, and makes it content of a tool's result.
 * @param declared media type of the route's `@Header('Content-Type', …)`
 * @throws Error without a media type, because clients could not read the file
 */
export async function fileContent(file: StreamableFile, declared: string | undefined, signal: AbortSignal) {
  const { type } = file.getHeaders();
  const mimeType = type === undefined || type === UNKNOWN ? declared : type;
  if (mimeType === undefined) {
    throw new Error(
      'it returned a StreamableFile without a media type: pass { type } to it, or add @Header("Content-Type", …) to the route',
    );
  }
  const bytes = await buffer(addAbortSignal(signal, file.getStream()));
  if (mimeType.startsWith('text/')) return { type: 'text', text: bytes.toString('utf8') };
  const data = bytes.toString('base64');
  const [kind] = mimeType.split('/', 1);
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType };
  return { type: 'resource', resource: { uri: 'file:///', mimeType, blob: data } };
}
