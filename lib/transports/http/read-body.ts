import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { TransportError } from './transport-error.js';

/** A request's body: the JSON in it, or why there is none. */
export type Body =
  { readonly ok: true; readonly json: unknown } | { readonly ok: false; readonly error: TransportError };

/** The most levels of lists and objects in a body: what follows a value to its ends must not run out of stack. */
const MAX_DEPTH = 500;

/**
 * Reads a JSON body, up to a limit in bytes and in time. It never throws: what is wrong with the body is part of the
 * result.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  timeoutMs = 30_000,
): Promise<Body> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    return failed(415, -32000, 'Unsupported Media Type: a compressed body is not accepted', true);
  }
  if (Number(request.headers['content-length']) > maxBytes) return tooLarge(maxBytes);
  const bytes = await readBytes(request, maxBytes, timeoutMs);
  return Buffer.isBuffer(bytes) ? parse(bytes) : bytes;
}

/** What is left unread goes nowhere, and leaves the connection fit for the answer. */
function readBytes(request: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<Buffer | Body> {
  return new Promise(resolve => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (result: Buffer | Body) => {
      clearTimeout(deadline);
      unwatch();
      request.off('data', onData);
      resolve(result);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) settle(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const deadline = setTimeout(() => settle(tooSlow(timeoutMs)), timeoutMs);
    const unwatch = finished(request, { writable: false }, error =>
      settle(
        error
          ? failed(400, -32700, 'Parse error: the request body could not be read')
          : Buffer.concat(chunks),
      ),
    );
    request.on('data', onData);
  });
}

function parse(bytes: Buffer): Body {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (isTooDeep(text)) return tooDeep();
    return { ok: true, json: JSON.parse(text) as unknown };
  } catch {
    return failed(400, -32700, 'Parse error: the request body is not valid JSON');
  }
}

/** A body that another parser made, unless it is nested deeper than `readBody` reads one. */
export function checkDepth(json: unknown): Body {
  try {
    return isTooDeep(JSON.stringify(json) ?? '') ? tooDeep() : { ok: true, json };
  } catch {
    // There is no stack left to write it with.
    return tooDeep();
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char === QUOTE) inString = !inString;
    else if (inString) index += Number(char === BACKSLASH);
    else if (CLOSING.has(char)) depth -= 1;
    else if (OPENING.has(char) && (depth += 1) > MAX_DEPTH) return true;
  }
  return false;
}

const failed = (status: number, code: number, message: string, close = false): Body => ({
  ok: false,
  error: new TransportError(status, code, message, close),
});

const tooDeep = (): Body =>
  failed(400, -32600, `Invalid Request: nested too deeply, at most ${MAX_DEPTH} levels are accepted`);

const tooLarge = (maxBytes: number): Body =>
  failed(413, -32000, `Payload Too Large: the request body must not exceed ${maxBytes} bytes`, true);

const tooSlow = (timeoutMs: number): Body =>
  failed(408, -32000, `Request Timeout: the request body must arrive within ${timeoutMs} milliseconds`, true);
