import {
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server';
import type { HttpExchange } from '../protocol/mcp-call.js';
import type { Observer } from '../protocol/traffic.js';
import type { Observation, Outcome } from '../protocol/observation.js';
import type { TrafficRequest } from '../protocol/traffic-listener.js';

/** What a session tells of a message that it passes to the SDK's server. */
export interface SessionMessageInfo extends MessageExtraInfo {
  readonly http?: HttpExchange;
}

export interface ObservedMessages {
  /** Observes the requests that the SDK's server answers itself, such as `initialize`. */
  readonly observer: Observer;
  /** Observes the requests to the client. */
  readonly asking: Observer;
  /** Whether the pipeline answers a method. The pipeline observes its own methods. */
  readonly isOwn: (method: string) => boolean;
  /** The data that is known about each message of the connection. */
  readonly about: (extra?: SessionMessageInfo) => Omit<TrafficRequest, 'method'>;
}

/** Observes the requests on the transport of an SDK server, from its connection on. */
export function observeMessages(
  transport: Transport,
  { observer, asking, isOwn, about }: ObservedMessages,
): void {
  const received = new OpenRequests();
  const sent = new OpenRequests();
  const receive = transport.onmessage!;
  transport.onmessage = (message: JSONRPCMessage, extra?: SessionMessageInfo) => {
    const pass = () => receive(message, extra);
    if (!isRequest(message)) {
      received.endCancelled(message);
      sent.endAnswered(message);
      return pass();
    }
    const { id, method, params } = message;
    if (isOwn(method)) return pass();
    const meta = params?._meta;
    const seen = observer.begin({ ...about(extra), ...eraOf(meta), requestId: id, method, params, meta });
    received.add(id, seen);
    return seen.run(pass);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!isRequest(message)) {
      sent.endCancelled(message);
      received.endAnswered(message);
      return send(message, options);
    }
    const { id, method, params } = message;
    const seen = asking.begin({ ...about(), requestId: id, method, params });
    sent.add(id, seen);
    try {
      await seen.run(() => send({ ...message, params: seen.outgoing(params) }, options));
    } catch (error) {
      sent.end(id, { error });
      throw error;
    }
  };
  const { onclose } = transport;
  transport.onclose = () => {
    received.close();
    sent.close();
    onclose?.();
  };
}

class OpenRequests {
  private readonly open = new Map<RequestId, Observation>();

  add(id: RequestId, seen: Observation): void {
    // A client may use an id again before its answer.
    this.end(id, { error: undefined, aborted: 'cancelled' });
    this.open.set(id, seen);
  }

  end(id: RequestId | undefined, outcome: Outcome): void {
    const seen = id === undefined ? undefined : this.open.get(id);
    if (!seen) return;
    this.open.delete(id!);
    seen.end(outcome);
  }

  endAnswered(message: JSONRPCMessage): void {
    if ('result' in message) this.end(message.id, { result: message.result });
    else if ('error' in message) this.end(message.id, { error: message.error });
  }

  endCancelled(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    const { requestId, reason } = (message.params ?? {}) as { requestId?: RequestId; reason?: unknown };
    this.end(requestId, { error: reason, aborted: 'cancelled' });
  }

  close(): void {
    for (const id of [...this.open.keys()]) this.end(id, { error: undefined, aborted: 'cancelled' });
  }
}

/** A request of 2026-07-28 says so by itself. */
function eraOf(
  meta: Readonly<Record<string, unknown>> | undefined,
): Pick<TrafficRequest, 'era' | 'protocolVersion'> {
  const version = meta?.[PROTOCOL_VERSION_META_KEY];
  return typeof version === 'string' ? { era: 'modern', protocolVersion: version } : {};
}

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message;
