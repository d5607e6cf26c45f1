import { Agent, request, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCRequest,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { HEADER_PREFIX } from '../headers/header-params.js';
import { encodeHeader } from '../headers/header-value.js';
import { isRecord } from '../util/is-record.js';
import { boundedResponse, readBounded, type BoundedFetchOptions } from './bounded-fetch.js';

export type DirectPost = (
  message: JSONRPCRequest,
  headers: TransportSendOptions['headers'],
  signal: AbortSignal,
) => Promise<Record<string, unknown> | Response>;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Whether a message is a `tools/call` of 2026-07-28 whose headers can be written here. */
export function isOrdinary({ method, params }: JSONRPCRequest, headers: object = {}): boolean {
  if (method !== 'tools/call' || params?._meta?.[PROTOCOL_VERSION_META_KEY] === undefined) return false;
  const { name } = params;
  return (
    typeof name === 'string' &&
    name !== '' &&
    Object.keys(headers).every(one => one.startsWith(HEADER_PREFIX))
  );
}

/**
 * Posts ordinary calls without the SDK's transport, which makes several signals and streams for each, and to `http:`
 * URLs without `fetch`, which takes four times as long as Node's HTTP client.
 * @returns the message with the result, or the response if the SDK's transport has to read it
 */
export function directPost({ maxBytes, endpoint, headersOf }: BoundedFetchOptions): DirectPost {
  return async (message, parameters, signal) => {
    const { name, _meta } = message.params as { name: string; _meta: Record<string, unknown> };
    const headers: Record<string, string> = {
      ...parameters,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': String(_meta[PROTOCOL_VERSION_META_KEY]),
      'mcp-method': message.method,
      'mcp-name': encodeHeader(name),
    };
    for (const [key, value] of new Headers(await headersOf())) if (!FRAMING.has(key)) headers[key] = value;
    const post = endpoint.protocol === 'http:' && isFetchDefault() ? postByNode : postByFetch;
    const answer = await post(endpoint, { method: 'POST', headers, signal, body: JSON.stringify(message) });
    if (answer.status !== 200 || !JSON_TYPE.test(answer.type) || !answer.body) {
      return boundedResponse(answer.response(), maxBytes);
    }
    const text = await readBounded(answer.body, maxBytes);
    const json: unknown = JSON.parse(text);
    if (isRecord(json) && json['id'] === message.id && isRecord(json['result'])) return json;
    const { status, statusText, headers: own } = answer.response();
    return new Response(text, { status, statusText, headers: own });
  };
}

/** Headers that describe the connection and the body. Only the HTTP client knows their values. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

interface Post {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: AsyncIterable<Uint8Array> | null;
  /** The answer as `fetch` returns it. Its body can be read only if `body` was not. */
  response(): Response;
}

async function postByFetch(url: URL, post: Post): Promise<Answer> {
  const response = await fetch(url, { ...post, redirect: 'manual' });
  const { status, headers, body } = response;
  return { status, type: headers.get('content-type') ?? '', body, response: () => response };
}

/** Servers of Node close an idle connection after 5 s. A client that closes earlier never posts to a closed one. */
const IDLE_MS = 4000;
const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });

const postByNode = (url: URL, { body, headers, ...options }: Post): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = { 'user-agent': 'node', ...headers };
    const posted = request(url, { ...options, headers: sent, agent }, incoming => {
      const { statusCode: status = 0 } = incoming;
      const type = incoming.headers['content-type'] ?? '';
      resolve({ status, type, body: incoming, response: () => responseOf(incoming) });
    });
    const fail = (cause: Error) =>
      reject(
        options.signal.aborted ? (options.signal.reason as Error) : new TypeError('fetch failed', { cause }),
      );
    posted.on('error', fail).end(body);
  });

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText, headersDistinct } = incoming;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const isEmpty = status === 204 || status === 304 || incoming.readableEnded;
  // Otherwise the connection would never be free again.
  if (isEmpty) incoming.resume();
  const body = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  return new Response(body as Response['body'], { status, statusText, headers });
}

/** The dispatcher of all `fetch` calls in the process, which an application can replace by a proxy's. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const dispatcher = () => (globalThis as { [DISPATCHER]?: object })[DISPATCHER];

const ownFetch = globalThis.fetch;
const isReplacedBefore = dispatcher() !== undefined;
// Node sets its own dispatcher when it loads its `fetch`.
new Headers();
const ownDispatcher = dispatcher();

/** Whether the application has left `fetch` as it is, without a proxy, a mock or a wrapper. */
const isFetchDefault = (): boolean =>
  !isReplacedBefore && globalThis.fetch === ownFetch && dispatcher() === ownDispatcher;
