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
 * Posts ordinary calls without the SDK's transport, which makes several signals and streams for each.
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
    for (const [key, value] of Object.entries(await headersOf())) headers[key.toLowerCase()] = value;
    const init = {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
      signal,
      redirect: 'manual',
    } as const;
    const response = await fetch(endpoint, init);
    const { status, statusText } = response;
    const isJson = JSON_TYPE.test(response.headers.get('content-type') ?? '');
    if (status !== 200 || !isJson || !response.body) return boundedResponse(response, maxBytes);
    const text = await readBounded(response.body, maxBytes);
    const answer: unknown = JSON.parse(text);
    if (isRecord(answer) && answer['id'] === message.id && isRecord(answer['result'])) return answer;
    return new Response(text, { status, statusText, headers: response.headers });
  };
}
