import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { isRecord } from '../util/is-record.js';
import type { JsonRpcError } from '../protocol/errors.js';

/** The origin of a message. The signal aborts when the message no longer needs an answer. */
export interface Origin extends Pick<McpCall, 'authInfo' | 'http'> {
  readonly signal: AbortSignal;
}

/** The answer to a message whose client no longer waits. */
export const CANCELLED: JsonRpcError = { code: McpErrorCode.Refused, message: 'The request was cancelled' };

/** The call in a message that no server has seen yet. It has only the message's data, and cannot answer. */
export function callOf({ id, method, params = {} }: JSONRPCRequest, { signal, ...origin }: Origin): McpCall {
  const { _meta: meta = {} } = params as { _meta?: Record<string, unknown> };
  const version = meta[PROTOCOL_VERSION_META_KEY];
  return {
    ...origin,
    requestId: id,
    method,
    params,
    era: version === undefined ? 'legacy' : 'modern',
    protocolVersion: String(version),
    clientInfo: meta[CLIENT_INFO_META_KEY] as McpCall['clientInfo'],
    clientCapabilities: meta[CLIENT_CAPABILITIES_META_KEY] as McpCall['clientCapabilities'],
    meta,
    reply: { signal, notify: () => Promise.resolve() },
  };
}

/**
 * Refuses a request whose `inputResponses` is not an object (2026-07-28: basic/patterns/mrtr). The SDK would read it as
 * empty.
 * @returns undefined for any other message
 */
export function refusalOfResponses(message: unknown): JsonRpcError | undefined {
  if (!isJSONRPCRequest(message)) return undefined;
  const { inputResponses = {}, _meta: meta } = message.params ?? {};
  // In the 2025 revisions, the name has no meaning.
  if (isRecord(inputResponses) || meta?.[PROTOCOL_VERSION_META_KEY] === undefined) return undefined;
  return { code: McpErrorCode.InvalidParams, message: 'inputResponses must be an object' };
}
