import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { isRecord } from '../../util/is-record.js';
import { TransportError } from './transport-error.js';

/** A request's body: its JSON, or the reason for its refusal. */
export type Body =
  { readonly ok: true; readonly json: unknown } | { readonly ok: false; readonly error: TransportError };

/** Maximum nesting of lists and objects in a body, so that recursive code does not overflow the stack. */
const MAX_DEPTH = 500;

/** Maximum fields of a message, and of its params. The protocol defines fewer than ten of each. */
const MAX_FIELDS = 1000;
/** Bytes of the shortest field: `"a":0`. */
const MIN_FIELD_BYTES = 5;

/**
 * Reads a JSON body, within limits of bytes and time, or takes it from a parser that ran before Nest. It never throws;
 * the result holds the error.
 */
export function readBody(
  request: IncomingMessage & { readonly body?: unknown },
  maxBytes: number,
  timeoutMs = 30_000,
): Body | Promise<Body> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    return failed(415, -32000, 'Unsupported Media Type: a compressed body is not accepted', true);
  }
  const length = request.headers['content-length'];
  if (Number(length) > maxBytes) return tooLarge(maxBytes);
  if (request.readableEnded && request.body !== undefined) {
    return checkParsed(request.body, length === undefined ? maxBytes : Infinity);
  }
  return parsedFrom(request, maxBytes, timeoutMs);
}

/** Reads and parses the bytes. An unread rest is discarded, so that the connection can still carry the answer. */
function parsedFrom(request: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<Body> {
  return new Promise(resolve => {
    let chunks: Buffer[] | undefined = [];
    let size = 0;
    // The listeners stay, because it takes long to remove them.
    const settle = (body: Body) => {
      chunks = undefined;
      clearTimeout(deadline);
      resolve(body);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks?.push(chunk);
      else if (chunks) settle(tooLarge(maxBytes));
    };
    const onEnd = () => {
      if (chunks) settle(parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    };
    const onBreak = () => {
      if (chunks) settle(failed(400, -32700, 'Parse error: the request body could not be read'));
    };
    const deadline = setTimeout(() => settle(tooSlow(timeoutMs)), timeoutMs);
    if (request.destroyed || request.readableEnded) return onBreak();
    // A broken request emits an error, caused by its sender, before it closes.
    request.on('data', onData).on('end', onEnd).on('close', onBreak).on('error', ignore);
  });
}

const ignore = (): void => undefined;

function parse(bytes: Buffer): Body {
  if (!isUtf8(bytes)) return notJson();
  if (isTooDeep(bytes)) return tooDeep();
  try {
    const text = bytes.toString();
    const json = JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text) as unknown;
    return bytes.length < MAX_FIELDS * MIN_FIELD_BYTES ? { ok: true, json } : checkFields(json);
  } catch {
    return notJson();
  }
}

/** Accepts a body that another parser read, unless it is too large, nested too deeply, or has too many fields. */
export function checkParsed(json: unknown, maxBytes = Infinity): Body {
  try {
    const bytes = Buffer.from(JSON.stringify(json) ?? '');
    if (bytes.length > maxBytes) return tooLarge(maxBytes);
    return isTooDeep(bytes) ? tooDeep() : checkFields(json);
  } catch {
    // `JSON.stringify` overflowed the stack.
    return tooDeep();
  }
}

/** The SDK looks at each field of a message and of its params, which takes longer than to parse them. */
function checkFields(json: unknown): Body {
  for (const message of Array.isArray(json) ? (json as unknown[]) : [json]) {
    if (!isRecord(message)) continue;
    if (hasManyFields(message) || (isRecord(message['params']) && hasManyFields(message['params']))) {
      return failed(
        400,
        -32600,
        `Invalid Request: a message and its "params" have at most ${MAX_FIELDS} fields each`,
      );
    }
  }
  return { ok: true, json };
}

function hasManyFields(value: object): boolean {
  let count = 0;
  for (const _ in value) if ((count += 1) > MAX_FIELDS) return true;
  return false;
}

const notJson = (): Body => failed(400, -32700, 'Parse error: the request body is not valid JSON');

const BYTE_ORDER_MARK = '\uFEFF';
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Scans bytes, because all relevant characters are ASCII. This is much faster than parsing. */
function isTooDeep(bytes: Buffer): boolean {
  // Each level takes two bytes.
  if (bytes.length <= 2 * MAX_DEPTH || !hasManyOpenings(bytes)) return false;
  const { length } = bytes;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) inString = !inString;
    else if (inString) {
      if (byte === BACKSLASH) index += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if ((byte === OPEN_LIST || byte === OPEN_OBJECT) && (depth += 1) > MAX_DEPTH) return true;
  }
  return false;
}

/** Whether there are enough brackets to nest too deeply, inside and outside of strings. */
function hasManyOpenings(bytes: Buffer): boolean {
  let count = 0;
  for (const opening of [OPEN_LIST, OPEN_OBJECT]) {
    for (let at = bytes.indexOf(opening); at >= 0; at = bytes.indexOf(opening, at + 1)) {
      if ((count += 1) > MAX_DEPTH) return true;
    }
  }
  return false;
}

const failed = (status: number, code: number, message: string, close = false): Body => ({
  ok: false,
  error: new TransportError(status, code, message, { close }),
});

const tooDeep = (): Body =>
  failed(400, -32600, `Invalid Request: nested too deeply, at most ${MAX_DEPTH} levels are accepted`);

const tooLarge = (maxBytes: number): Body =>
  failed(413, -32000, `Payload Too Large: the request body must not exceed ${maxBytes} bytes`, true);

const tooSlow = (timeoutMs: number): Body =>
  failed(408, -32000, `Request Timeout: the request body must arrive within ${timeoutMs} milliseconds`, true);
