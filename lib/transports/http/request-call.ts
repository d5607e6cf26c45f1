import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCRequest,
  type LoggingLevel,
} from '@modelcontextprotocol/server';
import type { HttpExchange, McpCall, Params, ReplyChannel } from '../../protocol/mcp-call.js';
import { isRecord } from '../../util/is-record.js';
import type { ConnectionData } from '../../server/sdk-server.js';
import type { Origin } from '../message-call.js';
import type { Incoming } from './incoming.js';

/** Creates the call of a 2026-07-28 request whose envelope is valid. */
export function modernCall(
  { id, method, params = {} }: JSONRPCRequest,
  incoming: Incoming,
  reply: ReplyChannel,
): McpCall {
  const { _meta = {}, inputResponses, requestState, ...bare } = params as Params & { _meta?: Params };
  const {
    [PROTOCOL_VERSION_META_KEY]: protocolVersion,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: clientCapabilities,
    [LOG_LEVEL_META_KEY]: minLogLevel,
    ...meta
  } = _meta;
  const hasMeta = Object.keys(meta).length > 0;
  return {
    requestId: id,
    method,
    params: hasMeta ? { ...bare, _meta: meta } : bare,
    era: 'modern',
    protocolVersion: protocolVersion as string,
    reply,
    authInfo: incoming.authInfo,
    clientInfo: clientInfo as McpCall['clientInfo'],
    clientCapabilities: clientCapabilities as McpCall['clientCapabilities'],
    http: httpOf(incoming),
    meta: hasMeta ? meta : undefined,
    minLogLevel: minLogLevel as LoggingLevel | undefined,
    requestState,
    ...(inputResponses !== undefined && sorted(inputResponses as Params)),
  };
}

/** Creates the call of a 2025-era request. */
export function legacyCall(
  { id, method, params = {} }: JSONRPCRequest,
  incoming: Incoming,
  reply: ReplyChannel,
  connection: ConnectionData,
  sessionId?: string,
): McpCall {
  // Without a spread of `connection`, for which V8 takes microseconds.
  return {
    requestId: id,
    method,
    params: 'inputResponses' in params || 'requestState' in params ? withoutRounds(params) : params,
    era: connection.era,
    protocolVersion: connection.protocolVersion,
    reply,
    sessionId,
    authInfo: incoming.authInfo,
    clientInfo: connection.clientInfo,
    clientCapabilities: connection.clientCapabilities,
    http: httpOf(incoming),
    meta: params['_meta'],
    minLogLevel: connection.minLogLevel,
    // For the rounds of a connection that carries requests.
    memory: sessionId === undefined ? undefined : {},
    channel: connection.channel,
    subscriptions: connection.subscriptions,
  };
}

/** Without the names that have a meaning only since 2026-07-28. */
function withoutRounds({ inputResponses: _responses, requestState: _state, ...bare }: Params): Params {
  return bare;
}

export const httpOf = ({ request, response, rawRequest, caller, view }: Incoming): HttpExchange => ({
  request,
  response,
  headers: rawRequest.headers,
  rawHeaders: rawRequest.rawHeaders,
  caller,
  view,
});

/** Shared, because `abort()` would capture a stack at the end of each request. */
const CLOSED = new DOMException('The connection is closed', 'AbortError');

/**
 * The origin of a request. Its own signal is used, because the signal of the `Request` does not abort after the answer
 * has ended.
 */
export function originOf(incoming: Incoming): Origin {
  const { authInfo, rawResponse } = incoming;
  const ended = new AbortController();
  if (rawResponse.destroyed) ended.abort(CLOSED);
  else rawResponse.once('close', () => ended.abort(CLOSED));
  return { signal: ended.signal, authInfo, http: httpOf(incoming) };
}

/** Separates answers from malformed entries. An answer is a bare result (2026-07-28: basic/patterns/mrtr). */
function sorted(responses: Params): Pick<McpCall, 'inputResponses' | 'malformedResponses'> {
  const entries = Object.entries(responses);
  const isAnswer = (value: unknown) => isRecord(value) && !('method' in value) && !('result' in value);
  const malformed = entries.filter(([, value]) => !isAnswer(value)).map(([key]) => key);
  return {
    inputResponses: Object.fromEntries(entries.filter(([, value]) => isAnswer(value))),
    ...(malformed.length > 0 && { malformedResponses: malformed }),
  };
}
