import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import type { McpServerHost } from '../../server/mcp-server-host.js';
import { listenOf, refusalOfListen } from '../listen.js';
import { refusalOfUpstream } from '../upstream-gate.js';

/** The most requests to listen that are open, as many as `serveStdio` lets be. */
const MAX_LISTENING = 1024;

/**
 * Puts interceptors in front of `subscriptions/listen`, which `serveStdio` answers by itself, and lets what stands behind
 * the server get ready for requests. Messages behind one that waits for a decision wait too, so that their order stays.
 */
export function gateListen(transport: Transport, host: McpServerHost): Transport {
  let last: Promise<void> | undefined;
  const closed = new AbortController();
  /** Ends what is listened to, by the id of the request to listen. */
  const listening = new Map<RequestId, AbortController>();
  const gated: Transport = {
    start: async () => {
      transport.onmessage = (message: JSONRPCMessage) => {
        if (last === undefined && !waits(message)) return pass(message);
        const turn: Promise<void> = (last ?? Promise.resolve())
          .then(() => deliver(message))
          .finally(() => {
            if (last === turn) last = undefined;
          });
        last = turn;
      };
      transport.onerror = error => gated.onerror?.(error);
      transport.onclose = () => {
        closed.abort();
        for (const ending of listening.values()) ending.abort();
        gated.onclose?.();
      };
      await transport.start();
    },
    send: (message, options) => transport.send(message, options),
    close: () => transport.close(),
  };
  return gated;

  function waits(message: JSONRPCMessage): boolean {
    return listenOf(message) !== undefined || (host.upstream !== undefined && isJSONRPCRequest(message));
  }

  async function deliver(message: JSONRPCMessage): Promise<void> {
    if (!isJSONRPCRequest(message)) return pass(message);
    const error =
      (await refusalOfUpstream(host, message, { signal: closed.signal })) ?? (await refusedListen(message));
    if (error) await transport.send({ jsonrpc: '2.0', id: message.id, error }).catch(() => undefined);
    else pass(message);
  }

  function pass(message: JSONRPCMessage): void {
    endListening(message);
    gated.onmessage?.(message);
  }

  async function refusedListen(message: JSONRPCMessage): ReturnType<typeof refusalOfListen> {
    const listen = listenOf(message);
    if (!listen) return undefined;
    if (listening.size >= MAX_LISTENING) return { code: -32603, message: 'Subscription limit reached' };
    const ending = new AbortController();
    listening.get(listen.id)?.abort();
    listening.set(listen.id, ending);
    const error = await refusalOfListen(host, listen, { signal: ending.signal });
    if (error) end(listen.id);
    return error;
  }

  function endListening(message: JSONRPCMessage): void {
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    end(message.params?.['requestId'] as RequestId);
  }

  function end(id: RequestId): void {
    listening.get(id)?.abort();
    listening.delete(id);
  }
}
