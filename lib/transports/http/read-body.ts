import type { IncomingMessage } from 'node:http';
import { TransportError } from './transport-error.js';

/** A request's body: the JSON in it, or why there is none. */
export type Body =
  { readonly ok: true; readonly json: unknown } | { readonly ok: false; readonly error: TransportError };

/**
 * Reads a JSON body, up to a limit in bytes. It never throws: what is wrong with the body is part of the result.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    return failed(415, -32000, 'Unsupported Media Type: a compressed body is not accepted', true);
  }
  if (Number(request.headers['content-length']) > maxBytes) return tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) return tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch {
    return failed(400, -32700, 'Parse error: the request body could not be read');
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    return { ok: true, json: JSON.parse(text) as unknown };
  } catch {
    return failed(400, -32700, 'Parse error: the request body is not valid JSON');
  }
}

const failed = (status: number, code: number, message: string, close = false): Body => ({
  ok: false,
  error: new TransportError(status, code, message, close),
});

const tooLarge = (maxBytes: number): Body =>
  failed(413, -32000, `Payload Too Large: the request body must not exceed ${maxBytes} bytes`, true);
