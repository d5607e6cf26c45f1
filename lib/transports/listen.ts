import { setMaxListeners } from 'node:events';
import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { AuthChallenge } from '../exceptions/auth-challenge.js';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import { errorOf, type JsonRpcError } from '../protocol/errors.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import type { Admitted } from '../server/listening.js';
import { callOf, CANCELLED, type Origin } from './message-call.js';

/** Maximum resources in one `subscriptions/listen` request. */
const MAX_RESOURCES = 1000;
/** Maximum characters of all their URIs. */
const MAX_LENGTH = 65_536;

/** The message if it is a `subscriptions/listen` request, otherwise undefined. */
export const listenOf = (message: unknown): JSONRPCRequest | undefined =>
  isJSONRPCRequest(message) && message.method === 'subscriptions/listen' ? message : undefined;

/**
 * Checks a listen request: its bounds, then its resources, in the stages of its pipeline. The first refusal is the
 * answer. It removes resources whose changes are not reported from the message, so that they are not acknowledged.
 * @throws AuthChallenge for a resource that the caller may not read
 */
export async function refusalOfListen(
  host: McpServerInstance,
  message: JSONRPCRequest,
  origin: Origin,
): Promise<JsonRpcError | undefined> {
  const seen = host.observer?.begin(callOf(message, origin));
  if (!seen) return decide(host, message, origin);
  try {
    const refusal = await seen.run(() => decide(host, message, origin));
    if (refusal === CANCELLED) seen.end({ error: refusal, aborted: 'cancelled' });
    else seen.end(refusal ? { error: refusal } : { result: {} });
    return refusal;
  } catch (error) {
    seen.end({ error });
    throw error;
  }
}

async function decide(
  host: McpServerInstance,
  message: JSONRPCRequest,
  origin: Origin,
): Promise<JsonRpcError | undefined> {
  const { notifications } = (message.params ?? {}) as {
    notifications?: { resourceSubscriptions?: unknown };
  };
  const uris = notifications?.resourceSubscriptions ?? [];
  if (!Array.isArray(uris)) return undefined;
  if (uris.length > MAX_RESOURCES) return tooMany(`${MAX_RESOURCES} resources`);
  if (lengthOf(uris) > MAX_LENGTH) return tooMany(`${MAX_LENGTH} characters of URIs`);
  // Each of the resources may add a listener.
  setMaxListeners(0, origin.signal);
  const call = callOf(message, origin);
  try {
    const { resourceSubscriptions } = (await host.listening(call, call.params)) as Admitted;
    if (origin.signal.aborted) return CANCELLED;
    const kept = new Set<unknown>(resourceSubscriptions);
    const isDropped = (uri: unknown) => typeof uri === 'string' && !kept.has(uri);
    if (uris.some(isDropped)) notifications!.resourceSubscriptions = uris.filter(uri => !isDropped(uri));
    return undefined;
  } catch (error) {
    if (origin.signal.aborted) return CANCELLED;
    // A challenge sets the status of the whole HTTP answer.
    if (error instanceof AuthChallenge) throw error;
    return errorOf(error, message.method);
  }
}

const tooMany = (most: string): JsonRpcError => ({
  code: McpErrorCode.InvalidParams,
  message: `At most ${most} can be listened to`,
});

const lengthOf = (uris: unknown[]): number =>
  uris.reduce<number>((length, uri) => length + (typeof uri === 'string' ? uri.length : 0), 0);
