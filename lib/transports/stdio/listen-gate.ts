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
import { refusalOfPreparation } from '../preparation.js';

/** Maximum open listen requests, the same as in `serveStdio`. */
const MAX_LISTENING = 1024;

/**
 * Runs interceptors before `subscriptions/listen`, which `serveStdio` answers itself, and prepares the server's
 * backends for requests. Messages behind such a request wait too, because a notification may refer to it. A listen
 * request delays no other message.
 */
export function gateListen(transport: Transport, host: McpServerInstance): Transport {
  let last: Promise<void> | undefined;
  const closed = new AbortController();
  /** Cancels undecided listen requests, by their id. */
  const undecided = new Map<RequestId, AbortController>();
  /** Ends active listen requests, by their id. */
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
      // An answered listen request is over, whether or not it was active.
      if ('result' in message || 'error' in message) end(listening, message.id);
      return transport.send(message, options);
    },
    close: () => transport.close(),
  };
  return gated;

  function receive(message: JSONRPCMessage): void {
    const cancelled = cancelledBy(message);
    // The request was not delivered yet, so its cancellation is not delivered either.
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
    return host.handlers.prepare !== undefined && isJSONRPCRequest(message);
  }

  async function deliver(message: JSONRPCMessage, ending?: AbortController): Promise<void> {
    if (!isJSONRPCRequest(message)) return pass(message);
    const error = await refusalOfPreparation(host, message, { signal: (ending ?? closed).signal });
    if (!error) return pass(message, ending);
    if (ending?.signal.aborted) return;
    if (ending) undecided.delete(message.id);
    refuse(message, error);
  }

  /** @param ending of a listen request, which is decided first */
  function pass(message: JSONRPCMessage, ending?: AbortController): void {
    if (ending) void decide(message as JSONRPCRequest, ending);
    else gated.onmessage?.(message);
  }

  async function decide(listen: JSONRPCRequest, ending: AbortController): Promise<void> {
    const error = await refusalOfListen(host, listen, { signal: ending.signal });
    // The client has cancelled the request, so it gets no answer.
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

/** Ends an entry. @returns whether it existed */
function end(open: Map<RequestId, AbortController>, id: RequestId | undefined): boolean {
  const ending = id !== undefined && open.get(id);
  if (!ending) return false;
  ending.abort();
  return open.delete(id);
}
