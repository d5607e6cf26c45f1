import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import { isProtocolError, unexpected } from '../server/errors.js';
import { isRecord } from '../schema/plain-json.js';
import type { Exchange } from '../server/exchange.js';

/** Where a message comes from; the signal fires once it needs no answer any more. */
export type Origin = Pick<Exchange, 'signal' | 'authInfo' | 'http'>;

/** The `error` of a JSON-RPC answer. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What nobody waits for any more is answered with. */
export const CANCELLED: JsonRpcError = { code: McpErrorCode.Refused, message: 'The request was cancelled' };

/** The exchange of a message that no server of the SDK has seen yet: what it says by itself, and no way to answer it. */
export function exchangeOf({ id, method, params }: JSONRPCRequest, origin: Origin): Exchange {
  const { _meta: meta = {} } = (params ?? {}) as { _meta?: Record<string, unknown> };
  const version = meta[PROTOCOL_VERSION_META_KEY];
  return {
    ...origin,
    requestId: id,
    method,
    params: params ?? {},
    era: version === undefined ? 'legacy' : 'modern',
    protocolVersion: String(version),
    clientInfo: meta[CLIENT_INFO_META_KEY] as Exchange['clientInfo'],
    clientCapabilities: meta[CLIENT_CAPABILITIES_META_KEY] as Exchange['clientCapabilities'],
    meta,
    requestState: () => undefined,
    notify: () => Promise.resolve(),
    log: () => Promise.resolve(),
  };
}

/**
 * Refuses a request whose `inputResponses` is not a map (2026-07-28: basic/patterns/mrtr). The SDK takes it for an empty one.
 * @returns undefined for any other message
 */
export function refusalOfResponses(message: unknown): JsonRpcError | undefined {
  if (!isJSONRPCRequest(message)) return undefined;
  const { inputResponses = {}, _meta: meta } = message.params ?? {};
  // In the 2025 revisions, the name means nothing.
  if (isRecord(inputResponses) || meta?.[PROTOCOL_VERSION_META_KEY] === undefined) return undefined;
  return { code: McpErrorCode.InvalidParams, message: 'inputResponses must be an object' };
}

/** What a client is told of something thrown: an error that is meant for it as it stands, any other as a reference. */
export function errorOf(thrown: unknown, method: string): JsonRpcError {
  const { code, message, data } = isProtocolError(thrown) ? thrown : unexpected(thrown, method);
  return { code, message, ...(data !== undefined && { data }) };
}
