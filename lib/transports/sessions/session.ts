import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import type { LimitReached } from '../../protocol/caller-limit.js';
import type { AskClient } from '../../protocol/mcp-call.js';
import type { RunningCalls } from '../../protocol/running-calls.js';
import type { ConnectionServer } from '../../server/connection-server.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { SessionMessageInfo } from '../../server/observed-messages.js';
import { passthroughSchema } from '../../server/passthrough-schema.js';
import { JsonCall } from '../json-call.js';
import type { Incoming } from '../http/incoming.js';
import { httpOf, legacyCall } from '../http/request-call.js';
import type { PostAnswer } from '../http/post-answer.js';
import { limitError, TransportError } from '../http/transport-error.js';
import type { KeyedOptions } from '../../server/connection-server.js';
import type { EventStore } from '../../stores/event-store.js';
import { LeftCalls } from './left-calls.js';
import type { PeerMessage } from './peers.js';
import { SessionAnswer } from './session-answer.js';
import { assertAccepts, assertVersion, isRequest, messagesIn, type Posted } from './session-body.js';
import type { SharedState } from './session-record.js';
import type { StreamSettings } from './session-stream.js';
import { SessionStreams } from './session-streams.js';
import type { SharedSession } from './shared-session.js';

/** The first revision whose clients accept an event without a message. */
const PRIMED_SINCE = '2025-11-25';

/** The id of the internal request that restores a session of another node. */
const RESTORING = 'nestjs-mcp:restoring';

const ENDED = 'The session has ended';
const ABANDONED = 'The call was cancelled, because its client did not come back in time';

interface Pending {
  readonly answer: Pick<PostAnswer, 'send' | 'answer' | 'drop'>;
  /** Undefined if the SDK's server answers it. */
  readonly call?: JsonCall;
}

export interface SessionOptions {
  readonly id: string;
  readonly caller: string;
  /** The caller that the session counts for in the limits; see `limitKeyOf`. */
  readonly limitKey: string;
  readonly openedAt: number;
  readonly idleTimeoutMs: number;
  readonly resumeMs: number | false;
  readonly keepAliveMs: number;
  readonly eventStore: EventStore;
  /** Makes the part that knows other nodes, if they also serve the session. */
  readonly share?: (settings: StreamSettings, server: ConnectionServer) => SharedSession;
  /** Whether this node keeps the session between two requests. Default: it does. */
  readonly isKept?: () => boolean;
  /** Called when nothing uses a session any more that is not kept. */
  readonly onUnused?: () => void;
}

/**
 * One 2025-era session on this node, and the transport of its SDK server. The SDK's server handles the handshake, the
 * log level, pings and the client's answers. Other requests go to the pipeline. A session closes itself after an idle
 * time without requests and streams.
 */
export class Session implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly sessionId: string;
  /** The owner of the session; other callers are refused. */
  caller: string;
  private readonly headers: Readonly<Record<string, string>>;
  private timer: NodeJS.Timeout;
  private readonly pending = new Map<RequestId, Pending>();
  private readonly streams: SessionStreams;
  /** The part that knows other nodes, if they also serve the session. */
  readonly shared?: SharedSession;
  private readonly left: LeftCalls;
  /** When it was last in use, in milliseconds that no change of the clock affects. */
  private usedAt = performance.now();
  /** When its client sent its latest message, in milliseconds since 1970. */
  lastMessageAt = Date.now();
  /** When the store last confirmed it, in milliseconds since 1970. */
  checkedAt = Date.now();
  private isInitialized = false;
  private isClosed = false;
  /** The requests for streams that are being opened. */
  private opening = 0;

  constructor(
    private readonly instance: McpServerInstance,
    readonly server: ConnectionServer,
    readonly options: SessionOptions,
  ) {
    this.sessionId = options.id;
    this.caller = options.caller;
    this.headers = { 'mcp-session-id': options.id };
    const settings: StreamSettings = {
      session: options.id,
      caller: options.limitKey,
      headers: this.headers,
      keepAliveMs: options.keepAliveMs,
      store: options.eventStore,
      isPrimed: () => (server.server.getNegotiatedProtocolVersion() ?? '') >= PRIMED_SINCE,
      // If nodes share the session, failures of the store are already logged.
      report: error => error instanceof UnavailableException || instance.report(error),
    };
    this.shared = options.share?.(settings, server);
    this.streams = this.shared?.streams ?? new SessionStreams(settings);
    if (this.shared) {
      this.shared.peers.onHome = state => {
        this.apply(state);
        server.opened();
      };
    }
    this.left = new LeftCalls(
      options.resumeMs,
      () => this.isAttended(),
      answer => this.giveUp(answer),
    );
    this.timer = this.startTimer(options.idleTimeoutMs);
  }

  /** Restores the state of a session that another node has opened. */
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

  /** Adopts the shared state, which may include missed changes. */
  adopt(state: SharedState): void {
    this.apply(state);
    this.shared?.adopt(state);
  }

  hear(message: PeerMessage): void {
    switch (message.kind) {
      case 'closed':
        if (this.shared) this.shared.isOver = true;
        return void this.close();
      case 'bound':
        return this.bind(message.caller);
      case 'state':
        return this.server.apply(message.change);
      case 'cancel':
        return this.cancel(message.requestId, message.reason);
      case 'moved':
        this.shared?.moved(message);
        return this.settle();
      case 'answer':
        this.shared?.others.confirm(message);
        return this.onmessage?.(message.message);
      case 'attended':
        return this.left.attended();
      default:
        return this.shared?.hear(message);
    }
  }

  /** Catches up with other nodes. @throws UnavailableException */
  async catchUp(): Promise<void> {
    this.shared?.others.repeat();
    await this.shared?.streams.catchUp();
    this.settle();
  }

  /** Lets go of the session in the next turn, if this node does not keep it and nothing uses it here any more. */
  settle(): void {
    const { isKept, onUnused } = this.options;
    if (!isKept || isKept()) return;
    setImmediate(() => {
      if (!this.isUsed && !this.isClosed) onUnused?.();
    });
  }

  /** Sends waiting messages, in case the notification of another node was lost. */
  flush(): void {
    this.streams.flush();
  }

  /** Whether the session is in use: a request is open, a stream is read, or work for another node is pending. */
  get isUsed(): boolean {
    const { opening, pending, streams, shared } = this;
    const isOpen = opening > 0 || pending.size > 0 || streams.areRead;
    return isOpen || streams.isUnsaved || shared?.others.isForwarding === true;
  }

  /** Makes listening clients reconnect to another node. @returns whether there were any */
  handOver(): boolean {
    return this.streams.handOver();
  }

  /** Gives an anonymous session an owner. The client must reopen earlier streams with its token. */
  bind(caller: string): void {
    if (caller === this.caller) return;
    this.caller = caller;
    this.streams.handOver();
  }

  /**
   * Answers a POST.
   * @returns the answer, whose `cancel` must be called when the response has closed; undefined for an acknowledgement
   * @throws TransportError for a refused request; then nothing has run
   */
  post(incoming: Incoming, posted: Posted): SessionAnswer | undefined {
    const { rawRequest, rawResponse } = incoming;
    const { accept, 'mcp-protocol-version': version } = rawRequest.headers;
    assertAccepts(accept, true);
    const { isInitialized, pending } = this;
    const messages = messagesIn(posted, { isInitialized, pending });
    if (isInitialized) assertVersion(version);
    this.isInitialized = true;
    this.lastMessageAt = Date.now();
    this.usedAt = performance.now();
    const requests = messages.filter(isRequest);
    if (requests.length === 0) {
      const left = messages.map(message => this.receive(message, incoming)).filter(one => one !== undefined);
      const accept = () => void rawResponse.writeHead(202).end();
      // A client does not send an accepted answer again, and this node may die before it has forwarded it.
      const refuse = (error: UnavailableException) => unavailable(error).send(rawResponse);
      if (left.length > 0) void Promise.all(left).then(accept, refuse);
      else accept();
      return undefined;
    }
    const refusal = this.refusalOfCalls(requests, incoming.caller);
    if (refusal) throw limitError(refusal, requests.length === 1 ? requests[0].id : undefined);
    const { headers } = this;
    const { keepAliveMs } = this.options;
    const answer = new SessionAnswer(
      rawResponse,
      { headers, keepAliveMs, awaited: requests.length, isBatch: Array.isArray(posted.json) },
      this.streams,
      requests,
      this.onLeft,
    );
    // By order, because a batch may cancel its own requests, which must not run then.
    const calls: (JsonCall | undefined)[] = [];
    for (const request of requests) calls.push(this.open(request, answer, incoming.caller));
    for (const message of messages) {
      const call = isRequest(message) ? calls.shift() : undefined;
      if (call) this.run(call, message as JSONRPCRequest, incoming);
      else void this.receive(message, incoming);
    }
    return answer;
  }

  /**
   * Opens a stream for messages that belong to no request, or continues a stream whose connection broke.
   * @throws TransportError
   */
  async listen({ rawRequest, rawResponse }: Incoming): Promise<void> {
    const { accept, 'mcp-protocol-version': version, 'last-event-id': lastEventId } = rawRequest.headers;
    assertAccepts(accept);
    assertVersion(version);
    rawResponse.once('close', () => {
      this.usedAt = performance.now();
      this.left.attended();
      this.settle();
    });
    this.opening += 1;
    await this.streams
      .listen(rawResponse, lastEventId as string | undefined)
      .finally(() => (this.opening -= 1));
    if (this.streams.isListening) this.shared?.repeatChanges();
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage, options?: TransportSendOptions & KeyedOptions): Promise<void> {
    const json = JSON.stringify(this.shared?.others.outgoing(message) ?? message);
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const id = isAnswer ? message.id : options?.relatedRequestId;
    if (id === undefined) {
      if (options?.key !== undefined && this.shared?.sendsChange(message) === false) return;
      return this.streams.send(json, options?.key);
    }
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
    this.left.close();
    for (const [id, pending] of [...this.pending]) this.abandon(id, pending, ENDED);
    this.streams.close();
    this.onclose?.();
  }

  private apply({ caller, level, subscribed }: SharedState): void {
    this.bind(caller);
    this.server.apply({ level });
    this.server.subscribedTo(subscribed);
  }

  private run(call: JsonCall, message: JSONRPCRequest, incoming: Incoming): void {
    const { sessionId, server } = this;
    const own = legacyCall(message, incoming, call, server.connectionData(), sessionId);
    call.run(this.instance, own, this.work).catch((error: Error) => {
      this.instance.report(error);
      incoming.rawResponse.destroy();
    });
  }

  /** Counts the calls of the session, which are pending until they end. */
  private readonly work: Pick<RunningCalls, 'add' | 'delete'> = {
    add: call => this.instance.running.add(call),
    delete: call => {
      this.instance.running.delete(call);
      const { id } = call as JsonCall;
      if (this.pending.get(id)?.call === call) this.pending.delete(id);
      this.usedAt = performance.now();
      if (this.shared) this.settle();
    },
  };

  private readonly onLeft = (answer: SessionAnswer): void => {
    this.usedAt = performance.now();
    if (this.shared) this.settle();
    // Without an event id, the client cannot reconnect, so its calls are cancelled.
    if (answer.canResume) return this.left.add(answer);
    for (const { id } of answer.requests) this.cancel(id, 'The client disconnected', answer);
  };

  /** The calls of a batch must fit into the caps together, or are refused together. */
  private refusalOfCalls(requests: readonly JSONRPCRequest[], caller: string): LimitReached | undefined {
    const count = requests.filter(({ method }) => this.instance.serves(method, 'legacy')).length;
    return count === 0 ? undefined : this.instance.running.refusal(caller, count);
  }

  private open({ id, method }: JSONRPCRequest, answer: PostAnswer, caller: string): JsonCall | undefined {
    const call = this.instance.serves(method, 'legacy')
      ? new JsonCall(id, 'legacy', answer, caller, this.ask)
      : undefined;
    this.pending.set(id, { answer, call });
    return call;
  }

  private readonly ask = (relatedRequestId: RequestId, ...[method, params, options]: Parameters<AskClient>) =>
    this.server.server.request({ method, params }, passthroughSchema, { ...options, relatedRequestId });

  /**
   * Passes messages to the SDK's server, except cancellations of pipeline calls.
   * @returns when an answer has left for another node; undefined for other messages
   */
  private receive(message: JSONRPCMessage, incoming: Incoming): Promise<void> | undefined {
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') {
      const { requestId, reason } = (message.params ?? {}) as { requestId?: RequestId; reason?: unknown };
      if (requestId === undefined) return void this.onmessage?.(message);
      if (!this.pending.has(requestId)) this.shared?.others.cancel(requestId, reason);
      return void this.cancel(requestId, reason);
    }
    const received = this.shared?.others.incoming(message) ?? { own: message };
    if ('left' in received) return received.left;
    const info: SessionMessageInfo = { authInfo: incoming.authInfo, http: httpOf(incoming) };
    this.onmessage?.(received.own, info);
    return undefined;
  }

  /** @param answer the answer of the request; another request may reuse its id */
  private cancel(requestId: RequestId, reason: unknown, answer?: PostAnswer): void {
    const pending = this.pending.get(requestId);
    if (!pending || (answer && pending.answer !== answer)) return;
    this.pending.delete(requestId);
    if (pending.call) return pending.call.cancel(reason);
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
    pending.answer.drop();
  }

  /** Whether the client has a GET stream here. If not, the other nodes are asked. */
  private isAttended(): boolean {
    if (this.streams.areListened || this.shared?.peers.isCut()) return true;
    this.shared?.streams.seek();
    return false;
  }

  /** Cancels the calls of an answer, which a client that comes late learns. */
  private giveUp(answer: SessionAnswer): void {
    for (const [id, pending] of [...this.pending]) {
      if (pending.answer === answer) this.abandon(id, pending, ABANDONED);
    }
  }

  /** Cancels a request, and answers it with an error. */
  private abandon(id: RequestId, { call }: Pending, reason: string): void {
    if (!call) return this.cancel(id, reason);
    this.pending.delete(id);
    call.end(new McpException(McpErrorCode.Refused, reason), 'cancelled');
  }

  private startTimer(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.look(), ms).unref();
  }

  /** Closes the session if it has not been in use for long enough. */
  private look(): void {
    const { idleTimeoutMs } = this.options;
    const left = this.isUsed ? idleTimeoutMs : this.usedAt + idleTimeoutMs - performance.now();
    if (left > 0) this.timer = this.startTimer(left);
    else void this.close();
  }
}

export const unavailable = ({ code, message }: UnavailableException): TransportError =>
  new TransportError(503, code, message, { headers: { 'retry-after': '1' } });
