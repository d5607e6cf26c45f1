import { setMaxListeners } from 'node:events';
import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { unlessAborted } from '../util/abort.js';
import { AuthChallenge } from '../exceptions/auth-challenge.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { errorOf, type JsonRpcError } from '../protocol/errors.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { callOf, CANCELLED, type Origin } from './message-call.js';

/** Maximum resources in one `subscriptions/listen` request. */
const MAX_RESOURCES = 1000;
/** Maximum characters of all their URIs. */
const MAX_LENGTH = 65_536;

/** The message if it is a `subscriptions/listen` request, otherwise undefined. */
export const listenOf = (message: unknown): JSONRPCRequest | undefined =>
  isJSONRPCRequest(message) && message.method === 'subscriptions/listen' ? message : undefined;

/**
 * Checks a listen request: its bounds, then each resource, first by the caller's scopes, then by interceptors, then by
 * guards or the backends. The first refusal is the answer. It removes resources whose changes are not reported from the
 * message, so that they are not acknowledged.
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
  const uris = notifications?.resourceSubscriptions;
  if (!Array.isArray(uris)) return undefined;
  if (uris.length > MAX_RESOURCES) return tooMany(`${MAX_RESOURCES} resources`);
  if (lengthOf(uris) > MAX_LENGTH) return tooMany(`${MAX_LENGTH} characters of URIs`);
  // Each of the resources may add a listener.
  setMaxListeners(0, origin.signal);
  const call = callOf(message, origin);
  const wanted = [...new Set<unknown>(uris)].filter(uri => typeof uri === 'string');
  const dropped = new Set<unknown>();
  const { subscriptionsAtOnce } = host.handlers;
  try {
    const requests = wanted.map(uri => ({ method: 'resources/subscribe', params: { uri } }));
    await host.admission?.admitAll(requests, call);
    await intercept(host, wanted, call);
    for (let start = 0; start < wanted.length; start += subscriptionsAtOnce) {
      // The client has disconnected, so no further check runs.
      if (origin.signal.aborted) return CANCELLED;
      const some = wanted.slice(start, start + subscriptionsAtOnce);
      const admitted = await Promise.allSettled(some.map(uri => host.handlers.admitSubscription(uri, call)));
      for (const [index, one] of admitted.entries()) {
        if (one.status === 'rejected') throw one.reason;
        if (!one.value) dropped.add(some[index]);
      }
    }
    if (dropped.size > 0) notifications!.resourceSubscriptions = uris.filter(uri => !dropped.has(uri));
    return undefined;
  } catch (error) {
    if (origin.signal.aborted) return CANCELLED;
    // A challenge sets the status of the whole HTTP answer.
    if (error instanceof AuthChallenge) throw error;
    return errorOf(error, message.method);
  }
}

/**
 * Runs the interceptors for all resources, with the deadline of one message.
 * @throws McpException (-32000) after the deadline, or with the refusal of an interceptor
 */
async function intercept(host: McpServerInstance, uris: readonly string[], call: McpCall): Promise<void> {
  const { timeoutMs } = host.options.interceptors;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(timeout(timeoutMs)), timeoutMs);
  const signal = AbortSignal.any([call.reply.signal, late.signal]);
  try {
    // In sequence, because hosts may limit parallel requests.
    for (const uri of uris) {
      signal.throwIfAborted();
      await unlessAborted(host.admitSubscription(uri, { ...call, reply: { ...call.reply, signal } }), signal);
    }
  } catch (error) {
    // The abort may have caused the error, so the signal's reason is thrown instead.
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const timeout = (timeoutMs: number) =>
  new McpException(McpErrorCode.Refused, 'Interceptor execution timeout', { timeoutMs, phase: 'request' });

const tooMany = (most: string): JsonRpcError => ({
  code: McpErrorCode.InvalidParams,
  message: `At most ${most} can be listened to`,
});

const lengthOf = (uris: unknown[]): number =>
  uris.reduce<number>((length, uri) => length + (typeof uri === 'string' ? uri.length : 0), 0);
