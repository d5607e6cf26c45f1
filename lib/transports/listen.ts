import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import type { McpException } from '../exceptions/mcp.exception.js';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import type { Exchange } from '../server/exchange.js';
import type { McpServerHost } from '../server/mcp-server-host.js';

/** The most resources that one `subscriptions/listen` may name. */
const MAX_RESOURCES = 1000;
/** The most characters that their URIs may have together. */
const MAX_LENGTH = 65_536;

interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A message, if it is a request to listen. */
export const listenOf = (message: unknown): JSONRPCRequest | undefined =>
  isJSONRPCRequest(message) && message.method === 'subscriptions/listen' ? message : undefined;

/**
 * Bounds what a client wants to listen to, whether or not anybody has a say in it, and asks about every resource; the
 * first refusal is the answer.
 */
export async function refusalOfListen(
  host: McpServerHost,
  { id, params }: JSONRPCRequest,
  origin: Pick<Exchange, 'signal' | 'authInfo' | 'http'>,
): Promise<JsonRpcError | undefined> {
  const { notifications, _meta: meta = {} } = (params ?? {}) as {
    notifications?: { resourceSubscriptions?: unknown };
    _meta?: Record<string, unknown>;
  };
  const uris = notifications?.resourceSubscriptions;
  if (!Array.isArray(uris)) return undefined;
  if (uris.length > MAX_RESOURCES) return tooMany(`${MAX_RESOURCES} resources`);
  if (lengthOf(uris) > MAX_LENGTH) return tooMany(`${MAX_LENGTH} characters of URIs`);
  const exchange: Exchange = {
    ...origin,
    requestId: id,
    method: 'subscriptions/listen',
    era: 'modern',
    protocolVersion: String(meta[PROTOCOL_VERSION_META_KEY]),
    clientInfo: meta[CLIENT_INFO_META_KEY] as Exchange['clientInfo'],
    clientCapabilities: meta[CLIENT_CAPABILITIES_META_KEY] as Exchange['clientCapabilities'],
    meta,
    requestState: () => undefined,
    notify: () => Promise.resolve(),
    log: () => Promise.resolve(),
  };
  try {
    for (const uri of new Set(uris)) {
      if (typeof uri === 'string') await host.admitSubscription(uri, exchange);
    }
    return undefined;
  } catch (error) {
    const { code, message, data } = error as McpException;
    return { code, message, ...(data !== undefined && { data }) };
  }
}

const tooMany = (most: string): JsonRpcError => ({
  code: McpErrorCode.InvalidParams,
  message: `At most ${most} can be listened to`,
});

const lengthOf = (uris: unknown[]): number =>
  uris.reduce<number>((length, uri) => length + (typeof uri === 'string' ? uri.length : 0), 0);
