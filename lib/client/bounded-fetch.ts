import type { FetchLike } from '@modelcontextprotocol/client';

/** An answer was larger than it may be. */
export class ResponseTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
  }
}

/**
 * `fetch` with headers of its own, which reads no answer past `maxBytes`. An event stream has no end, and so no size: of
 * one, each event is bounded.
 */
export function boundedFetch(
  maxBytes: number,
  headersOf: (url: URL) => Record<string, string> | Promise<Record<string, string>>,
): FetchLike {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(await headersOf(new URL(url)))) headers.set(name, value);
    const response = await fetch(url, { ...init, headers });
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const body = response.body.pipeThrough(isStream ? eventBound(maxBytes) : sizeBound(maxBytes));
    const { status, statusText } = response;
    return new Response(body, { status, statusText, headers: response.headers });
  };
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

const LF = 10;

function eventBound(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  // Bytes since the last line ended: an event that grows without end is one line that does.
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const lastEnd = chunk.lastIndexOf(LF);
      size = lastEnd < 0 ? size + chunk.byteLength : chunk.byteLength - lastEnd - 1;
      if (Math.max(size, chunk.byteLength) > maxBytes) controller.error(new ResponseTooLargeError(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}
