import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  parseJSONRPCMessage,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import type { LimitReached } from '../../protocol/caller-limit.js';
import type { AskClient, McpCall, Params, ReplyChannel } from '../../protocol/mcp-call.js';
import type { ConnectionServer } from '../../server/connection-server.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { passthroughSchema } from '../../server/passthrough-schema.js';
import { HttpCall } from '../http/http-call.js';
import type { Incoming } from '../http/incoming.js';
import { httpOf } from '../http/modern-call.js';
import type { PostAnswer } from '../http/post-answer.js';
import { limitError, TransportError } from '../http/transport-error.js';
import type { KeyedOptions } from '../../server/connection-server.js';
import type { EventStore } from '../../protocol/event-store.js';
import { ForwardedAnswers } from './forwarded-answers.js';
import type { PeerMessage, Peers } from './peers.js';
import { QuestionIds } from './question-ids.js';
import { SessionAnswer } from './session-answer.js';
import type { SharedState } from './session-record.js';
import { SessionStreams } from './session-streams.js';

/** The most messages that a list may hold. */
const MAX_BATCH = 100;

/** The most characters of an id and of a reason that nodes tell each other. */
const MAX_REASON = 200;

/** The first revision whose clients understand an event without a message. */
const PRIMED_SINCE = '2025-11-25';

/** The request by which a session is made here that another node has opened. */
const RESTORING = 'nestjs-mcp:restoring';

/** A request that is not answered yet. */
interface Pending {
  readonly answer: Pick<PostAnswer, 'send' | 'answer' | 'drop'>;
  /** Undefined if the SDK's server answers it. */
  readonly call?: HttpCall;
}

export interface SessionOptions {
  readonly id: string;
  readonly caller: string;
  readonly idleTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly eventStore: EventStore;
  /** The other nodes, if they serve the session as well. */
  readonly peers?: Peers;
}

/**
 * One 2025-era session on this node, and the transport of its SDK server. The SDK's server has what belongs to the connection: the
 * handshake, the log level, pings and the client's answers. Other requests go to the pipeline. A session ends itself when it
 * has been without a request and without a stream for too long.
 */
export class Session implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly sessionId: string;
  /** Whose session it is; it serves nobody else. */
  caller: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly timer: NodeJS.Timeout;
  private readonly pending = new Map<RequestId, Pending>();
  private readonly streams: SessionStreams;
  private readonly questions?: QuestionIds;
  private readonly forwarded?: ForwardedAnswers;
  private isInitialized = false;
  private isClosed = false;

  constructor(
    private readonly instance: McpServerInstance,
    private readonly server: ConnectionServer,
    private readonly options: SessionOptions,
  ) {
    this.sessionId = options.id;
    this.caller = options.caller;
    this.headers = { 'mcp-session-id': options.id };
    const { peers } = options;
    this.streams = new SessionStreams(
      {
        session: options.id,
        headers: this.headers,
        keepAliveMs: options.keepAliveMs,
        store: options.eventStore,
        isPrimed: () => (server.server.getNegotiatedProtocolVersion() ?? '') >= PRIMED_SINCE,
        // Where nodes share the session, the failure of a store has been logged.
        report: error => error instanceof UnavailableException || instance.report(error),
      },
      peers,
    );
    if (peers) {
      this.questions = new QuestionIds(peers.node);
      this.forwarded = new ForwardedAnswers(peers);
      server.share = change => peers.share(change);
    }
    this.timer = setTimeout(() => this.onIdle(), options.idleTimeoutMs).unref();
  }

  /** Becomes what the session is on the node that has opened it. */
  async restore(state: SharedState): Promise<void> {
    await new Promise<void>(resolve => {
      const answer = { send: () => undefined, answer: () => resolve(), drop: () => resolve() };
      this.pending.set(RESTORING, { answer });
      this.onmessage?.({ jsonrpc: '2.0', id: RESTORING, method: 'initialize', params: state.params });
    });
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
    this.isInitialized = true;
    this.adopt(state);
  }

  /** Knows what other nodes know, also if it has missed a change. */
  adopt({ caller, level, subscribed }: SharedState): void {
    if (caller !== this.caller) this.bind(caller);
    this.server.apply({ level });
    this.server.subscribedTo(subscribed);
  }

  /** Another node tells of the session. */
  hear(message: PeerMessage): void {
    switch (message.kind) {
      case 'closed':
        return void this.close();
      case 'bound':
        return this.bind(message.caller);
      case 'state':
        return this.server.apply(message.change);
      case 'cancel':
        return this.cancel(message.requestId, message.reason);
      case 'answer':
        return this.receiveAnswer(message.node, message.message);
      case 'confirmed':
        return this.forwarded?.confirmed(message.node, message.id);
      default:
        return this.streams.hear(message);
    }
  }

  /** Catches up with other nodes. @throws UnavailableException */
  follow(): Promise<void> {
    this.forwarded?.repeat();
    return this.streams.follow();
  }

  /** Sends what waits, if another node has told so in vain. */
  flush(): void {
    this.streams.flush();
  }

  /** Whether a client is connected, or waits for an answer, or another node does. */
  get isUsed(): boolean {
    const { pending, streams, forwarded } = this;
    return pending.size > 0 || streams.areRead || streams.isUnsaved || (forwarded?.size ?? 0) > 0;
  }

  /** Sends listening clients to another node. @returns whether there were any */
  handOver(): boolean {
    return this.streams.handOver();
  }

  /** Makes an anonymous session the caller's. Streams that were opened before have to be opened again, with the token. */
  bind(caller: string): void {
    this.caller = caller;
    this.streams.handOver();
  }

  /** Answers a POST. @returns false if it was refused, and so did nothing */
  post(incoming: Incoming, body: unknown): boolean {
    const { rawResponse } = incoming;
    let messages: readonly JSONRPCMessage[];
    try {
      messages = this.messagesIn(incoming, body);
    } catch (error) {
      (error as TransportError).send(rawResponse);
      return false;
    }
    this.isInitialized = true;
    this.timer.refresh();
    const requests = messages.filter(isRequest);
    if (requests.length === 0) {
      for (const message of messages) this.receive(message);
      rawResponse.writeHead(202).end();
      return true;
    }
    const refusal = this.refusalOfCalls(requests, incoming.caller);
    if (refusal) {
      limitError(refusal, requests.length === 1 ? requests[0].id : undefined).send(rawResponse);
      return false;
    }
    const { headers } = this;
    const { keepAliveMs } = this.options;
    const answer = new SessionAnswer(
      rawResponse,
      { headers, keepAliveMs, awaited: requests.length, isBatch: Array.isArray(body) },
      this.streams,
      requests,
    );
    rawResponse.once('close', () => {
      this.timer.refresh();
      // Without an event, the client has nothing to come back with, so the calls are as good as cancelled.
      if (answer.canResume) return;
      for (const { id } of requests) this.cancel(id, 'The client disconnected', answer);
    });
    const calls = requests.map(request => this.open(request, answer, incoming.caller));
    for (const message of messages) {
      const call = isRequest(message) ? calls.shift() : undefined;
      if (call) this.run(call, message as JSONRPCRequest, incoming);
      else this.receive(message);
    }
    return true;
  }

  /** Opens a stream for what belongs to no request, or goes on with one whose connection broke. */
  async listen({ rawRequest, rawResponse }: Incoming): Promise<void> {
    if (!rawRequest.headers.accept?.includes('text/event-stream')) {
      return refused(406, 'Not Acceptable: Client must accept text/event-stream').send(rawResponse);
    }
    const refusal = this.refusalOfVersion(rawRequest.headers['mcp-protocol-version']);
    if (refusal) return refusal.send(rawResponse);
    rawResponse.once('close', () => this.timer.refresh());
    await this.streams.listen(rawResponse, rawRequest.headers['last-event-id'] as string | undefined);
  }

  async start(): Promise<void> {}

  /** Sends a message of the SDK's server. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions & KeyedOptions): Promise<void> {
    const json = JSON.stringify(this.questions?.outgoing(message) ?? message);
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const id = isAnswer ? message.id : options?.relatedRequestId;
    if (id === undefined) return this.streams.send(json, options?.key);
    const pending = this.pending.get(id);
    if (!pending) throw new Error('The request is not open any more');
    if (!isAnswer) return pending.answer.send(json);
    this.pending.delete(id);
    pending.answer.answer(json);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const id of [...this.pending.keys()]) this.cancel(id, 'The session has ended');
    this.streams.close();
    this.onclose?.();
  }

  /** Runs a call in the pipeline. */
  private run(call: HttpCall, message: JSONRPCRequest, incoming: Incoming): void {
    const over = () => {
      if (this.pending.get(call.id)?.call === call) this.pending.delete(call.id);
      this.timer.refresh();
    };
    call.run(this.instance, this.callOf(message, incoming, call)).then(over, (error: Error) => {
      over();
      this.instance.report(error);
      incoming.rawResponse.destroy();
    });
  }

  /** The calls of a list fit into the caps together, or are refused together. */
  private refusalOfCalls(requests: readonly JSONRPCRequest[], caller: string): LimitReached | undefined {
    const count = requests.filter(({ method }) => this.instance.serves(method, 'legacy')).length;
    return count === 0 ? undefined : this.instance.running.limit.refusal(caller, count);
  }

  private open({ id, method }: JSONRPCRequest, answer: PostAnswer, caller: string): HttpCall | undefined {
    const call = this.instance.serves(method, 'legacy')
      ? new HttpCall(id, 'legacy', answer, caller, this.asker(id))
      : undefined;
    this.pending.set(id, { answer, call });
    return call;
  }

  private asker(relatedRequestId: RequestId): AskClient {
    const { server } = this.server;
    return (method, params, options) =>
      server.request({ method, params }, passthroughSchema, { ...options, relatedRequestId });
  }

  private callOf(
    { id, method, params = {} }: JSONRPCRequest,
    incoming: Incoming,
    reply: ReplyChannel,
  ): McpCall {
    // These names mean something since 2026-07-28.
    const { inputResponses: _responses, requestState: _state, ...bare } = params as Params;
    return {
      requestId: id,
      method,
      params: bare,
      reply,
      sessionId: this.sessionId,
      authInfo: incoming.authInfo,
      http: httpOf(incoming),
      meta: params['_meta'],
      // Last: V8 takes microseconds for each property that follows a spread.
      ...this.server.connectionData(),
    };
  }

  /** What is not a call of the pipeline is the SDK's, but for the cancellation of such a call. */
  private receive(message: JSONRPCMessage): void {
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const { requestId, reason } = (message.params ?? {}) as { requestId?: RequestId; reason?: unknown };
      if (requestId === undefined) return this.onmessage?.(message);
      if (!this.pending.has(requestId)) this.cancelElsewhere(requestId, reason);
      return this.cancel(requestId, reason);
    }
    const { node, message: own = message } = this.questions?.incoming(message) ?? {};
    if (node === undefined) this.onmessage?.(own);
    else this.forwarded?.send(node, own);
  }

  private cancelElsewhere(requestId: RequestId, reason: unknown): void {
    const text = typeof reason === 'string' ? reason.slice(0, MAX_REASON) : undefined;
    if (String(requestId).length > MAX_REASON) return;
    this.options.peers?.tell({ kind: 'cancel', requestId, reason: text });
  }

  /** Another node has got an answer, which may be for this one. */
  private receiveAnswer(node: string, message: JSONRPCMessage & { readonly id?: unknown }): void {
    const { peers } = this.options;
    if (!peers || node !== peers.node) return;
    peers.tell({ kind: 'confirmed', node, id: message.id });
    this.onmessage?.(message);
  }

  /** @param answer what the request is to be answered with: its id may be another's by now */
  private cancel(requestId: RequestId, reason: unknown, answer?: PostAnswer): void {
    const pending = this.pending.get(requestId);
    if (!pending || (answer && pending.answer !== answer)) return;
    this.pending.delete(requestId);
    if (pending.call) return pending.call.cancel(reason);
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    pending.answer.drop();
  }

  /** @throws TransportError for a body that cannot be served */
  private messagesIn({ rawRequest }: Incoming, body: unknown): readonly JSONRPCMessage[] {
    const { accept = '', 'mcp-protocol-version': version } = rawRequest.headers;
    if (!accept.includes('application/json') || !accept.includes('text/event-stream')) {
      throw refused(406, 'Not Acceptable: Client must accept both application/json and text/event-stream');
    }
    const messages = parse(body);
    this.assertIdsFree(messages);
    if (messages.some(isInitialize)) {
      if (this.isInitialized) throw invalid('Invalid Request: Server already initialized');
      if (messages.length > 1) throw invalid('Invalid Request: Only one initialization request is allowed');
      return messages;
    }
    const refusal = this.refusalOfVersion(version);
    if (refusal) throw refusal;
    return messages;
  }

  private assertIdsFree(messages: readonly JSONRPCMessage[]): void {
    const own = new Set<RequestId>();
    for (const message of messages) {
      if (!isRequest(message)) continue;
      if (this.pending.has(message.id) || own.has(message.id)) {
        throw new TransportError(400, -32600, 'Invalid Request: the id is in use', { id: message.id });
      }
      own.add(message.id);
    }
  }

  /** The refusal of a revision that a header names. */
  refusalOfVersion(version: string | string[] | undefined): TransportError | undefined {
    if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))) return undefined;
    const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    return refused(
      400,
      `Bad Request: Unsupported protocol version: ${String(version)} (supported versions: ${supported})`,
    );
  }

  private onIdle(): void {
    if (this.isUsed) this.timer.refresh();
    else void this.close();
  }
}

/** These two tell messages apart that `parse` has checked: the SDK's own guards check each time. */
const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message;
const isInitialize = (message: JSONRPCMessage): boolean =>
  isRequest(message) && message.method === 'initialize' && isInitializeRequest(message);

function parse(body: unknown): readonly JSONRPCMessage[] {
  if (isJSONRPCRequest(body)) return [body];
  const list = Array.isArray(body) ? body : [body];
  if (list.length > MAX_BATCH) throw invalid(`Invalid Request: Batch must not exceed ${MAX_BATCH} messages`);
  try {
    return list.map(parseJSONRPCMessage);
  } catch {
    throw new TransportError(400, -32700, 'Parse error: Invalid JSON-RPC message');
  }
}

const refused = (status: number, message: string): TransportError =>
  new TransportError(status, -32000, message);
const invalid = (message: string): TransportError => new TransportError(400, -32600, message);
