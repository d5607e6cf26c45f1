import { once, setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  type AuthInfo,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/server';
import { AuthChallenge } from '../../exceptions/auth-challenge.js';
import type { Admission } from '../../protocol/permissions.js';
import { callerOf } from '../../protocol/caller.js';
import { LimitReached } from '../../protocol/caller-limit.js';
import { LASTING } from '../../protocol/methods.js';
import { isRequest } from '../../protocol/plain-messages.js';
import { OpenReplies } from '../../protocol/running-calls.js';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import { isRecord } from '../../util/is-record.js';
import { assertNameHeader } from '../../headers/header-check.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { OLDEST_ASSUMED, versionIn, type ConnectionData } from '../../server/sdk-server.js';
import { isEnvelope, REVISION } from '../../server/wire-codec.js';
import { Sessions } from '../sessions/sessions.js';
import { JsonCall } from '../json-call.js';
import { callOf } from '../message-call.js';
import { refusalOfPreparation } from '../preparation.js';
import { originForm } from './endpoint-paths.js';
import { closeWithConnection, isGone } from './connections.js';
import type { Incoming } from './incoming.js';
import { ListenerLimit } from './listener-limit.js';
import { httpOf, legacyCall, modernCall, originOf } from './request-call.js';
import { PostAnswer, writeJson } from './post-answer.js';
import { RequestCheck } from './request-check.js';
import { SdkHandler } from './sdk-handler.js';
import { challengeError, limitError, NO_VIEW, SHUTTING_DOWN } from './transport-error.js';

/** The Streamable HTTP endpoint of one server. It serves both eras, and determines the era of each request. */
export class HttpEndpoint {
  private readonly check: RequestCheck;
  private readonly sdk: SdkHandler;
  private readonly sessions: Sessions | undefined;
  /** Whether 2025-era clients are served without sessions. */
  private readonly isStateless: boolean;
  private readonly listeners: ListenerLimit;
  private readonly openReplies = new OpenReplies();
  /** Responses that are not complete, with the calls to cancel when they close. */
  private readonly answers = new Map<ServerResponse, { cancel(): void } | undefined>();
  private readonly forget: (this: ServerResponse) => void;

  constructor(
    private readonly server: McpServerInstance,
    private readonly http: ResolvedHttpOptions,
  ) {
    const { legacy, sessions, counting } = server.options;
    this.check = new RequestCheck(http, message => server.report(new Error(message)));
    this.sdk = new SdkHandler(server, http);
    this.listeners = new ListenerLimit(http, counting);
    server.limits['listeners'] = this.listeners.limit;
    server.openItems.streams = this.listeners.open;
    server.gauges['responses'] = () => this.answers.size;
    const { answers } = this;
    // One listener for all responses, because a closure for each response would be slow.
    this.forget = function () {
      answers.get(this)?.cancel();
      answers.delete(this);
    };
    this.isStateless = legacy === 'stateless';
    if (legacy === 'sessions')
      this.sessions = new Sessions(server, sessions, http.keepAliveMs, this.listeners, answers);
  }

  /**
   * Answers one request, without waiting for the answer. Otherwise, enhancers around the route would measure and end
   * the calls of one era only. Enhancers also run around the handler.
   * @param isPart whether the router has found the path of a part of the server
   */
  serve(incoming: Incoming, isPart: boolean): void {
    const { body, rawRequest, rawResponse } = incoming;
    // The request may have ended while a guard of the application ran.
    if (isGone(rawRequest, rawResponse)) return;
    const refusal = this.server.running.isClosing ? SHUTTING_DOWN : this.check.refusal(incoming);
    if (refusal) {
      this.server.refused(refusal.status);
      return refusal.send(rawResponse);
    }
    // The SDK puts the Host header before the target, even before a target that already has a host.
    rawRequest.url = originForm(rawRequest.url ?? '');
    const view = this.server.extensions.views?.of(rawRequest.url, rawRequest.headers, isPart);
    // A path of a view must not reach the whole server.
    if (view === false || (isPart && !view)) {
      this.server.refused(NO_VIEW.status);
      return NO_VIEW.send(rawResponse);
    }
    closeWithConnection(rawRequest, rawResponse);
    this.answers.set(rawResponse, undefined);
    rawResponse.on('close', this.forget);
    void this.answer(view ? { ...incoming, view } : incoming, body?.ok ? body.json : undefined);
  }

  /** Starts to receive messages of other nodes. */
  async open(): Promise<void> {
    await this.sessions?.open();
  }

  /** Sends clients that only listen to another node, if other nodes exist. */
  async handOver(): Promise<void> {
    await this.sessions?.handOver();
  }

  /**
   * Ends every call, stream and session.
   * @param timeoutMs deadline for clients to read their answers, in milliseconds
   */
  async close(timeoutMs: number): Promise<void> {
    await Promise.all([this.openReplies.close(), this.sdk.close(), this.sessions?.close()]);
    const over = new AbortController();
    setMaxListeners(0, over.signal);
    const closed = [...this.answers.keys()].map(response => once(response, 'close', { signal: over.signal }));
    const late = pause(timeoutMs, undefined, { signal: over.signal });
    await Promise.race([late, Promise.allSettled(closed)]);
    over.abort();
    await Promise.allSettled([late, ...closed]);
    for (const response of this.answers.keys()) response.destroy();
  }

  private async answer(incoming: Incoming, json: unknown): Promise<void> {
    const { admission, handlers } = this.server;
    try {
      const own = admission ? await this.admitted(admission, incoming, json) : incoming;
      if (!own || (handlers.prepare && (await this.isUnprepared(own, json)))) return;
      await this.route(own, json);
    } catch (error) {
      this.server.report(error as Error);
      incoming.rawResponse.destroy();
    }
  }

  /** The request with its caller. Undefined if it is not admitted; then it is answered with the reason. */
  private async admitted(
    admission: Admission,
    incoming: Incoming,
    json: unknown,
  ): Promise<Incoming | undefined> {
    const { rawRequest, rawResponse } = incoming;
    let caller: AuthInfo | undefined;
    try {
      const admitted = admission.admit({
        http: httpOf(incoming),
        response: rawResponse,
        requests: requestsIn(json),
        isListening: rawRequest.method === 'GET' || (isRequest(json) && LASTING.has(json.method)),
      });
      caller = admitted instanceof Promise ? await admitted : admitted;
    } catch (error) {
      const id = idOf(json);
      if (error instanceof LimitReached) limitError(error, id).send(rawResponse);
      else if (error instanceof AuthChallenge) {
        this.server.refused(error.status);
        challengeError(error, id).send(rawResponse);
      } else throw error;
      return undefined;
    }
    return ownedBy(caller, incoming);
  }

  private route(incoming: Incoming, json: unknown): void | Promise<void> {
    const { rawRequest, rawResponse } = incoming;
    if (isGone(rawRequest, rawResponse)) return;
    const request = isRequest(json) ? json : undefined;
    if (request && this.isModern(rawRequest, request)) {
      return LASTING.has(request.method) ? this.listen(incoming, request) : this.run(incoming, request);
    }
    const isLegacy = json === undefined || (request && isLegacyRequest(rawRequest, request));
    if (request && isLegacy && this.isStateless && this.isOrdinary(rawRequest, request)) {
      return this.run(incoming, request, this.connectionOf(rawRequest));
    }
    if (!this.sessions || !(isLegacy || isJudgedLegacy(rawRequest, json))) {
      return this.serveBySdk(incoming, json);
    }
    return Array.isArray(json)
      ? this.serveBatch(this.sessions, incoming, json)
      : this.sessions.serve(incoming, { json, request });
  }

  /** Refuses a batch as a whole: the client that logs in sends all of it again. */
  private async serveBatch(sessions: Sessions, incoming: Incoming, json: unknown[]): Promise<void> {
    if (!(await this.isChallenged(incoming, json))) await sessions.serve(incoming, { json });
  }

  private async listen(incoming: Incoming, request: JSONRPCRequest): Promise<void> {
    if (await this.listeners.admits(incoming, request.id)) await this.run(incoming, request);
  }

  /** Prepares the handlers for a request. Meanwhile, the requests count as calls. If that fails, it answers the request. */
  private async isUnprepared(incoming: Incoming, json: unknown): Promise<boolean> {
    const { caller, rawResponse } = incoming;
    const { limit } = this.server.running;
    const count = requestsIn(json).length;
    if (!this.admitsCalls(incoming, json)) return true;
    limit.take(caller, count);
    const error = await refusalOfPreparation(this.server, json, originOf(incoming)).finally(() =>
      limit.release(caller, count),
    );
    const { id = null } = isRecord(json) ? json : {};
    // With HTTP 200, every client reads the code and the message.
    if (error) writeJson(rawResponse, 200, JSON.stringify({ jsonrpc: '2.0', id, error }));
    return error !== undefined;
  }

  /** Whether the requests of a body are within the caps of calls. If not, it answers the request. */
  private admitsCalls({ caller, rawResponse }: Incoming, json: unknown): boolean {
    const requests = requestsIn(json);
    const reached = this.server.running.refusal(caller, requests.length);
    if (reached) limitError(reached, requests.length === 1 ? requests[0].id : undefined).send(rawResponse);
    return !reached;
  }

  private async serveBySdk(incoming: Incoming, json: unknown): Promise<void> {
    if (await this.isChallenged(incoming, json)) return;
    if (this.admitsCalls(incoming, json)) return this.sdk.serve(incoming);
  }

  /** Checked before an answer starts, because a refusal sets the HTTP status. */
  private async isChallenged(incoming: Incoming, json: unknown): Promise<boolean> {
    const { admission } = this.server;
    const requests = admission ? requestsIn(json) : [];
    if (requests.length === 0) return false;
    try {
      await admission!.admitAll(requests, callOf(requests[0], originOf(incoming)));
      return false;
    } catch (error) {
      if (!(error instanceof AuthChallenge)) throw error;
      this.server.refused(error.status);
      challengeError(error, idOf(json)).send(incoming.rawResponse);
      return true;
    }
  }

  /** Whether a request is a common and valid 2026-07-28 request, which the SDK does not need to check. */
  private isModern(rawRequest: IncomingMessage, { method, params = {} }: JSONRPCRequest): boolean {
    const { headers } = rawRequest;
    const { inputResponses, _meta: meta } = params;
    if (headers['mcp-protocol-version'] !== REVISION || headers['mcp-method'] !== method) return false;
    if (inputResponses !== undefined && !isRecord(inputResponses)) return false;
    if (!isEnvelope(meta) || !this.server.serves(method, 'modern')) return false;
    try {
      return assertNameHeader(rawRequest, method, params, this.server.ownMethods.get(method)?.nameHeader);
    } catch {
      return false;
    }
  }

  /** Whether the pipeline answers a 2025-era request of a client without a session. */
  private isOrdinary({ headers: { accept = '' } }: IncomingMessage, { method }: JSONRPCRequest): boolean {
    // The SDK refuses a client that does not accept both types of an answer.
    const acceptsBoth = accept.includes('application/json') && accept.includes('text/event-stream');
    return acceptsBoth && this.server.serves(method, 'legacy');
  }

  /** The connection data of a 2025-era request without a session. */
  private connectionOf(rawRequest: IncomingMessage): ConnectionData {
    return {
      era: 'legacy',
      protocolVersion: versionIn(rawRequest) ?? OLDEST_ASSUMED,
      // The client has no way to choose another level.
      minLogLevel: this.server.capabilities.logging && 'debug',
    };
  }

  /** @param connection of a 2025-era request */
  private run(
    incoming: Incoming,
    message: JSONRPCRequest,
    connection?: ConnectionData,
  ): void | Promise<void> {
    const { rawResponse, caller } = incoming;
    const { id, method } = message;
    const { running } = this.server;
    const isLasting = LASTING.has(method);
    const reached = isLasting ? undefined : running.refusal(caller);
    if (reached) return limitError(reached, id).send(rawResponse);
    const answer = new PostAnswer(rawResponse, { keepAliveMs: this.http.keepAliveMs });
    const call = new JsonCall(id, connection ? 'legacy' : 'modern', answer, caller);
    this.answers.set(rawResponse, call);
    const own = connection
      ? legacyCall(message, incoming, call, connection)
      : modernCall(message, incoming, call);
    return call.run(this.server, own, isLasting ? this.openReplies : running);
  }
}

/** The request with the admitted caller, who replaces a caller that a guard of the application found. */
function ownedBy(authInfo: AuthInfo | undefined, incoming: Incoming): Incoming {
  const caller = authInfo ? callerOf(authInfo, incoming.request) : incoming.caller;
  // Not by a spread, because V8 takes microseconds for each property after it.
  return Object.assign({}, incoming, { authInfo, caller });
}

const idOf = (json: unknown): RequestId | undefined => (isRequest(json) ? json.id : undefined);

const requestsIn = (body: unknown): JSONRPCRequest[] =>
  Array.isArray(body) ? body.filter(isRequest) : isRequest(body) ? [body] : [];

/** Whether a request certainly belongs to the 2025 era. */
const isLegacyRequest = ({ headers }: IncomingMessage, { params }: JSONRPCRequest): boolean => {
  const version = headers['mcp-protocol-version'] as string | undefined;
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return false;
  return !Object.hasOwn(params?._meta ?? {}, PROTOCOL_VERSION_META_KEY);
};

/** Whether the SDK classifies a message as 2025-era. This takes ten times as long as `isLegacyRequest`. */
function isJudgedLegacy({ method = '', headers }: IncomingMessage, body: unknown): boolean {
  const { kind } = classifyInboundRequest({
    httpMethod: method,
    protocolVersionHeader: textOf(headers['mcp-protocol-version']),
    mcpMethodHeader: textOf(headers['mcp-method']),
    mcpNameHeader: textOf(headers['mcp-name']),
    body,
  });
  return kind === 'legacy';
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header;
