import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import type { McpServerHost } from '../server/mcp-server-host.js';
import { errorOf, exchangeOf, type JsonRpcError, type Origin } from './message-exchange.js';

/** The most resources that one `subscriptions/listen` may name. */
const MAX_RESOURCES = 1000;
/** The most characters that their URIs may have together. */
const MAX_LENGTH = 65_536;

/** A message, if it is a request to listen. */
export const listenOf = (message: unknown): JSONRPCRequest | undefined =>
  isJSONRPCRequest(message) && message.method === 'subscriptions/listen' ? message : undefined;

/**
 * Bounds what a client wants to listen to, whether or not anybody has a say in it, and asks about every resource; the
 * first refusal is the answer.
 */
export async function refusalOfListen(
  host: McpServerHost,
  message: JSONRPCRequest,
  origin: Origin,
): Promise<JsonRpcError | undefined> {
  const { notifications } = (message.params ?? {}) as {
    notifications?: { resourceSubscriptions?: unknown };
  };
  const uris = notifications?.resourceSubscriptions;
  if (!Array.isArray(uris)) return undefined;
  if (uris.length > MAX_RESOURCES) return tooMany(`${MAX_RESOURCES} resources`);
  if (lengthOf(uris) > MAX_LENGTH) return tooMany(`${MAX_LENGTH} characters of URIs`);
  const exchange = exchangeOf(message, origin);
  try {
    for (const uri of new Set(uris)) {
      // Whoever hung up asks for nothing more, and nobody is asked on its behalf.
      if (origin.signal.aborted) return CANCELLED;
      if (typeof uri === 'string') await host.admitSubscription(uri, exchange);
    }
    return undefined;
  } catch (error) {
    return errorOf(error, message.method);
  }
}

const CANCELLED: JsonRpcError = { code: McpErrorCode.Refused, message: 'The request was cancelled' };

const tooMany = (most: string): JsonRpcError => ({
  code: McpErrorCode.InvalidParams,
  message: `At most ${most} can be listened to`,
});

const lengthOf = (uris: unknown[]): number =>
  uris.reduce<number>((length, uri) => length + (typeof uri === 'string' ? uri.length : 0), 0);
