import { setMaxListeners } from 'node:events';
import type { FetchLike } from '@modelcontextprotocol/client';

export class ResponseTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
  }
}

export interface BoundedFetchOptions {
  readonly maxBytes: number;
  readonly endpoint: URL;
  readonly headersOf: () => Record<string, string> | Promise<Record<string, string>>;
}

/**
 * `fetch` that limits the size of responses. It sends `headersOf` only to the origin of `endpoint`, also after
 * redirects.
 */
export function boundedFetch({ maxBytes, endpoint, headersOf }: BoundedFetchOptions): FetchLike {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    // OAuth also sends requests to other origins.
    const isMeant = new URL(url).origin === endpoint.origin;
    if (isMeant) for (const [name, value] of Object.entries(await headersOf())) headers.set(name, value);
    const { signal, release } = following(init?.signal);
    try {
      const response = await fetch(url, { ...init, headers, signal, ...(isMeant && { redirect: 'manual' }) });
      return boundedResponse(response, maxBytes, release);
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** @param onEnd called once the body is read, or cannot be read any more */
export function boundedResponse(response: Response, maxBytes: number, onEnd = () => {}): Response {
  const { body, status, statusText } = response;
  if (body === null) {
    onEnd();
    return response;
  }
  const bound = isEventStream(response) ? eventBound(maxBytes) : sizeBound(maxBytes);
  // The reader of the response receives the errors.
  void body
    .pipeTo(bound.writable)
    .catch(() => undefined)
    .finally(onEnd);
  return new Response(bound.readable, { status, statusText, headers: response.headers });
}

/** @throws ResponseTooLargeError */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ResponseTooLargeError(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A signal for one request. `fetch` would leave its listener on the shared signal until garbage collection. */
function following(source?: AbortSignal | null): { signal: AbortSignal; release: () => void } {
  const own = new AbortController();
  if (!source) return { signal: own.signal, release: () => undefined };
  const follow = () => own.abort(source.reason);
  setMaxListeners(0, source);
  source.addEventListener('abort', follow, { once: true });
  if (source.aborted) follow();
  return { signal: own.signal, release: () => source.removeEventListener('abort', follow) };
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

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
