import { once, setMaxListeners } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

const BODILESS = new Set([204, 205, 304]);

/**
 * A `fetch` without keep-alive. With Node's own `fetch`, a closing server would wait for seconds for open connections.
 */
export async function fetchOnce(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const { method, headers, body, signal } = init;
  // A client gives one signal to all its requests.
  if (signal) setMaxListeners(0, signal);
  const sending = request(url, {
    ...(method !== undefined && { method }),
    headers: Object.fromEntries(new Headers(headers)),
    ...(signal && { signal }),
    agent: false,
  });
  // Later errors are reported by the body.
  sending.on('error', () => undefined);
  sending.end(body);
  const [incoming] = (await once(sending, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, statusMessage: statusText } = incoming;
  const answer = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) answer.append(name, value);
  }
  const content = BODILESS.has(status) ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  return new Response(content, { status, statusText, headers: answer });
}
