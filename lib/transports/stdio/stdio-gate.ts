import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import { McpException } from '../../exceptions/mcp.exception.js';
import { STDIO_CALLER } from '../../protocol/caller-limit.js';
import type { JsonRpcError } from '../../protocol/errors.js';
import { LASTING } from '../../protocol/methods.js';
import type { OpenReplies } from '../../protocol/running-calls.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { isEnvelope } from '../../server/wire-codec.js';
import { JsonCall } from '../json-call.js';
import { callOf, refusalOfResponses } from '../message-call.js';
import { refusalOfPreparation } from '../preparation.js';

/** Maximum requests whose replies are open, the same as in `serveStdio`. */
const MAX_OPEN = 1024;

/**
 * Answers requests whose replies stay open, which `serveStdio` cannot, and prepares the server's backends for requests.
 * Messages behind a request that is being prepared wait too, because a notification may refer to it.
 * @param isLegacy whether the connection is one of the 2025 era, which has no such requests
 */
export function gateStdio(
  transport: Transport,
  host: McpServerInstance,
  replies: OpenReplies,
  isLegacy: () => boolean,
): Transport {
  let last: Promise<void> | undefined;
  const closed = new AbortController();
  /** The calls in `replies` and those that are being prepared, by their id. */
  const open = new Map<RequestId, JsonCall>();
  const gated: Transport = {
    start: async () => {
      transport.onmessage = receive;
      transport.onerror = error => gated.onerror?.(error);
      transport.onclose = () => {
        closed.abort();
        for (const call of open.values()) call.cancel();
        gated.onclose?.();
      };
      await transport.start();
    },
    send: (message, options) => transport.send(message, options),
    close: () => transport.close(),
  };
  return gated;

  function receive(message: JSONRPCMessage): void {
    if (cancel(cancelledBy(message))) return;
    const malformed = refusalOfResponses(message);
    if (malformed) return refuse(message as JSONRPCRequest, malformed);
    // The SDK knows the error for a 2025 connection, and for a request without a valid envelope.
    const isOpening =
      isJSONRPCRequest(message) &&
      LASTING.has(message.method) &&
      isEnvelope(message.params?._meta) &&
      !isLegacy();
    if (isOpening && open.size >= MAX_OPEN) {
      return refuse(message, { code: -32603, message: 'Subscription limit reached' });
    }
    const call = isOpening ? begin(message) : undefined;
    if (last === undefined && !waits(message)) return pass(message, call);
    const turn: Promise<void> = (last ?? Promise.resolve())
      .then(() => deliver(message, call))
      .finally(() => {
        if (last === turn) last = undefined;
      });
    last = turn;
  }

  function waits(message: JSONRPCMessage): boolean {
    return host.handlers.prepare !== undefined && isJSONRPCRequest(message);
  }

  async function deliver(message: JSONRPCMessage, call?: JsonCall): Promise<void> {
    if (!isJSONRPCRequest(message)) return pass(message);
    const error = await refusalOfPreparation(host, message, { signal: (call ?? closed).signal });
    if (!error) pass(message, call);
    else if (call) call.end(new McpException(error.code, error.message, error.data));
    else refuse(message, error);
  }

  function pass(message: JSONRPCMessage, call?: JsonCall): void {
    if (!call) return gated.onmessage?.(message);
    if (call.isEnded) return;
    const { signal } = call;
    const own = { ...callOf(message as JSONRPCRequest, { signal }), reply: call };
    call.run(host, own, replies).catch((error: Error) => host.report(error));
  }

  function begin({ id }: JSONRPCRequest): JsonCall {
    cancel(id);
    const tell = (json: string) =>
      void transport.send(JSON.parse(json) as JSONRPCMessage).catch(() => undefined);
    const answer = (json: string) => {
      open.delete(id);
      tell(json);
    };
    const drop = () => void open.delete(id);
    const call = new JsonCall(id, 'modern', { tell, answer, drop, pause: () => undefined }, STDIO_CALLER);
    open.set(id, call);
    return call;
  }

  /** @returns whether the request has an open reply, so that the SDK does not know it */
  function cancel(id: RequestId | undefined): boolean {
    const call = id === undefined ? undefined : open.get(id);
    call?.cancel();
    return call !== undefined;
  }

  function refuse({ id }: JSONRPCRequest, error: JsonRpcError): void {
    transport.send({ jsonrpc: '2.0', id, error }).catch(() => undefined);
  }
}

const cancelledBy = (message: JSONRPCMessage): RequestId | undefined =>
  isJSONRPCNotification(message) && message.method === 'notifications/cancelled'
    ? (message.params?.['requestId'] as RequestId)
    : undefined;
