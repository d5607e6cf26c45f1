import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { listenOf, refusalOfListen } from '../listen.js';
import type { JsonRpcError } from '../../protocol/errors.js';
import { refusalOfResponses } from '../message-call.js';
import { refusalOfUpstream } from '../upstream-gate.js';

/** The most requests to listen that are open, as many as `serveStdio` lets be. */
const MAX_LISTENING = 1024;

/**
 * Puts interceptors in front of `subscriptions/listen`, which `serveStdio` answers by itself, and lets what stands behind
 * the server get ready for requests. Messages behind a request that it gets ready for wait too: a notification may be
 * about the request before it. Nothing waits for a decision on a request to listen: only its cancellation is about it.
 */
export function gateListen(transport: Transport, host: McpServerInstance): Transport {
  let last: Promise<void> | undefined;
  const closed = new AbortController();
  /** Ends what is not decided yet, by the id of the request to listen. */
  const undecided = new Map<RequestId, AbortController>();
  /** Ends what is listened to, by the id of the request to listen. */
  const listening = new Map<RequestId, AbortController>();
  const gated: Transport = {
    start: async () => {
      transport.onmessage = receive;
      transport.onerror = error => gated.onerror?.(error);
      transport.onclose = () => {
        closed.abort();
        for (const ending of [...undecided.values(), ...listening.values()]) ending.abort();
        gated.onclose?.();
      };
      await transport.start();
    },
    send: (message, options) => {
      // Answered, it is over, whether or not it ever was listened to.
      if ('result' in message || 'error' in message) end(listening, message.id);
      return transport.send(message, options);
    },
    close: () => transport.close(),
  };
  return gated;

  function receive(message: JSONRPCMessage): void {
    const cancelled = cancelledBy(message);
    // Nobody else has heard of it yet.
    if (end(undecided, cancelled)) return;
    end(listening, cancelled);
    const malformed = refusalOfResponses(message);
    if (malformed) return refuse(message as JSONRPCRequest, malformed);
    const listen = listenOf(message);
    if (listen && undecided.size + listening.size >= MAX_LISTENING) {
      return refuse(listen, { code: -32603, message: 'Subscription limit reached' });
    }
    const ending = listen && begin(listen);
    if (last === undefined && !waits(message)) return pass(message, ending);
    const turn: Promise<void> = (last ?? Promise.resolve())
      .then(() => deliver(message, ending))
      .finally(() => {
        if (last === turn) last = undefined;
      });
    last = turn;
  }

  function waits(message: JSONRPCMessage): boolean {
    return host.upstream !== undefined && isJSONRPCRequest(message);
  }

  async function deliver(message: JSONRPCMessage, ending?: AbortController): Promise<void> {
    if (!isJSONRPCRequest(message)) return pass(message);
    const error = await refusalOfUpstream(host, message, { signal: (ending ?? closed).signal });
    if (!error) return pass(message, ending);
    if (ending?.signal.aborted) return;
    if (ending) undecided.delete(message.id);
    refuse(message, error);
  }

  /** @param ending of a request to listen, which is decided on first */
  function pass(message: JSONRPCMessage, ending?: AbortController): void {
    if (ending) void decide(message as JSONRPCRequest, ending);
    else gated.onmessage?.(message);
  }

  async function decide(listen: JSONRPCRequest, ending: AbortController): Promise<void> {
    const error = await refusalOfListen(host, listen, { signal: ending.signal });
    // Who cancelled it waits for no answer.
    if (ending.signal.aborted) return;
    undecided.delete(listen.id);
    if (error) return refuse(listen, error);
    end(listening, listen.id);
    listening.set(listen.id, ending);
    gated.onmessage?.(listen);
  }

  function refuse({ id }: JSONRPCRequest, error: JsonRpcError): void {
    transport.send({ jsonrpc: '2.0', id, error }).catch(() => undefined);
  }

  function begin({ id }: JSONRPCRequest): AbortController {
    end(undecided, id);
    const ending = new AbortController();
    undecided.set(id, ending);
    return ending;
  }
}

const cancelledBy = (message: JSONRPCMessage): RequestId | undefined =>
  isJSONRPCNotification(message) && message.method === 'notifications/cancelled'
    ? (message.params?.['requestId'] as RequestId)
    : undefined;

/** Whether there was something to end. */
function end(open: Map<RequestId, AbortController>, id: RequestId | undefined): boolean {
  const ending = id !== undefined && open.get(id);
  if (!ending) return false;
  ending.abort();
  return open.delete(id);
}
