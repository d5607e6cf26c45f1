import type { FetchLike } from '@modelcontextprotocol/client';
import { isEventStream } from './answer-watch.js';
import { following } from './followed-signal.js';

/** An answer was larger than it may be. */
export class ResponseTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
  }
}

/** A server sent a request on to somewhere that the application did not name. */
export class RedirectError extends Error {}

export interface BoundedFetchOptions {
  /** The largest answer that is read, in bytes. An event stream has no end, and so no size: of one, each event. */
  readonly maxBytes: number;
  /** The server that is meant. What is sent there stays there. */
  readonly endpoint: URL;
  /** Headers for the server that is meant, and for nobody else. */
  readonly headersOf: () => Record<string, string> | Promise<Record<string, string>>;
}

/**
 * `fetch` that reads no answer past its bound, and neither hands headers to another origin nor follows a redirect there.
 */
export function boundedFetch({ maxBytes, endpoint, headersOf }: BoundedFetchOptions): FetchLike {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    // OAuth leads elsewhere.
    const isMeant = new URL(url).origin === endpoint.origin;
    if (isMeant) for (const [name, value] of Object.entries(await headersOf())) headers.set(name, value);
    const own = init?.signal && following(init.signal);
    const request = { ...init, headers, ...(own && { signal: own.signal }) };
    let response: Response;
    try {
      response = await (isMeant ? fetchWithin(new URL(url), request) : fetch(url, request));
    } catch (error) {
      own?.release();
      throw error;
    }
    if (response.body === null) {
      own?.release();
      return response;
    }
    const bound = isEventStream(response) ? eventBound(maxBytes) : sizeBound(maxBytes);
    // Whoever reads the answer is told of its errors.
    void response.body
      .pipeTo(bound.writable)
      .catch(() => undefined)
      .finally(() => own?.release());
    const { status, statusText } = response;
    return new Response(bound.readable, { status, statusText, headers: response.headers });
  };
}

const MAX_REDIRECTS = 5;
/** The redirects that keep method and body. */
const SAME_REQUEST = new Set([307, 308]);

/** @throws RedirectError for a redirect to another origin, for one that would lose the body, and for one too many */
async function fetchWithin(url: URL, init: RequestInit, redirects = 0): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const location = response.headers.get('location');
  if (response.status < 300 || response.status > 399 || location === null) return response;
  await response.body?.cancel();
  const target = new URL(location, url);
  const keepsRequest =
    SAME_REQUEST.has(response.status) || init.method === undefined || init.method === 'GET';
  if (target.origin !== url.origin || !keepsRequest || redirects === MAX_REDIRECTS) {
    throw new RedirectError(`it redirects to ${target.origin}${target.pathname}, which is not followed`);
  }
  return fetchWithin(target, init, redirects + 1);
}

function sizeBound(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > maxBytes) controller.error(new ResponseTooLargeError(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

const [LF, CR] = [10, 13];

/** An event ends with an empty line, however many lines it has. */
function eventBound(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let eventBytes = 0;
  let lineBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        if (++eventBytes > maxBytes) return controller.error(new ResponseTooLargeError(maxBytes));
        if (byte === LF) {
          if (lineBytes === 0) eventBytes = 0;
          lineBytes = 0;
        } else if (byte !== CR) lineBytes++;
      }
      controller.enqueue(chunk);
    },
  });
}
