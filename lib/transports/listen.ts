import { setMaxListeners } from 'node:events';
import { isJSONRPCRequest, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { unlessAborted } from '../util/abort.js';
import { AuthChallenge } from '../exceptions/auth-challenge.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { errorOf, type JsonRpcError } from '../protocol/errors.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { NotHonoredError } from '../server/upstream.js';
import { callOf, CANCELLED, type Origin } from './message-call.js';

/** The most resources that one `subscriptions/listen` may name. */
const MAX_RESOURCES = 1000;
/** The most characters that their URIs may have together. */
const MAX_LENGTH = 65_536;

/** How many of them an upstream is asked about at the same time. */
const AT_ONCE = 100;

/** A message, if it is a request to listen. */
export const listenOf = (message: unknown): JSONRPCRequest | undefined =>
  isJSONRPCRequest(message) && message.method === 'subscriptions/listen' ? message : undefined;

/**
 * Bounds what a client wants to listen to, whether or not anybody has a say in it, and asks about every resource: first
 * the scopes of the caller, then the interceptors, then whoever else has a say. The first refusal is the answer. What an upstream does not honour is taken
 * out of the message, and so is not acknowledged.
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
  // Each of the resources may wait for its end.
  setMaxListeners(0, origin.signal);
  const call = callOf(message, origin);
  const wanted = [...new Set<unknown>(uris)].filter(uri => typeof uri === 'string');
  const dropped = new Set<unknown>();
  // What an upstream is asked for at the same time, it can ask for at once.
  const together = host.upstream ? AT_ONCE : 1;
  try {
    const requests = wanted.map(uri => ({ method: 'resources/subscribe', params: { uri } }));
    await host.access?.assertAllAllowed(requests, call);
    await intercept(host, wanted, call);
    for (let start = 0; start < wanted.length; start += together) {
      // Whoever hung up asks for nothing more, and nobody is asked on its behalf.
      if (origin.signal.aborted) return CANCELLED;
      const admitted = await Promise.allSettled(
        wanted.slice(start, start + together).map(uri => host.admitSubscription(uri, call)),
      );
      for (const [index, one] of admitted.entries()) {
        if (one.status === 'fulfilled') continue;
        if (!(one.reason instanceof NotHonoredError)) throw one.reason;
        dropped.add(wanted[start + index]);
      }
    }
    if (dropped.size > 0) notifications!.resourceSubscriptions = uris.filter(uri => !dropped.has(uri));
    return undefined;
  } catch (error) {
    if (origin.signal.aborted) return CANCELLED;
    // It decides about the whole HTTP answer.
    if (error instanceof AuthChallenge) throw error;
    return errorOf(error, message.method);
  }
}

/**
 * Asks the interceptors, which have the time of one message for all of the resources.
 * @throws McpException (-32000) once it is up; whatever one of them refuses with
 */
async function intercept(host: McpServerInstance, uris: readonly string[], call: McpCall): Promise<void> {
  const { timeoutMs } = host.options.interceptors;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(timeout(timeoutMs)), timeoutMs);
  const signal = AbortSignal.any([call.reply.signal, late.signal]);
  try {
    // One after the other: what one of them is asked at the same time can be bounded.
    for (const uri of uris) {
      signal.throwIfAborted();
      await unlessAborted(
        host.interceptSubscription(uri, { ...call, reply: { ...call.reply, signal } }),
        signal,
      );
    }
  } catch (error) {
    // What was given up may have failed by that, before anybody was told why.
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
