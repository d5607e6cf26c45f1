import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpCall, Params, ReplyChannel } from '../../protocol/mcp-call.js';
import type { ConnectionData } from '../../server/sdk-server.js';
import type { Incoming } from './incoming.js';
import { httpOf } from './modern-call.js';

/** Creates the call of a 2025-era request. */
export function legacyCall(
  { id, method, params = {} }: JSONRPCRequest,
  incoming: Incoming,
  reply: ReplyChannel,
  connection: ConnectionData,
  sessionId?: string,
): McpCall {
  // These names have a meaning only since 2026-07-28.
  const { inputResponses: _responses, requestState: _state, ...bare } = params as Params;
  return {
    requestId: id,
    method,
    params: bare,
    reply,
    sessionId,
    authInfo: incoming.authInfo,
    http: httpOf(incoming),
    meta: params['_meta'],
    // Last, because V8 takes microseconds for each property after a spread.
    ...connection,
  };
}
