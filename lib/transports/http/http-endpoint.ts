import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  validateHostHeader,
  validateOriginHeader,
  type AuthInfo,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import type { ResolvedHttpOptions } from '../../mcp.module-options.js';
import type { McpServerHost } from '../../server/mcp-server-host.js';
import { listenOf, refusalOfListen } from '../listen.js';
import { refusalOfResponses, type Origin } from '../message-exchange.js';
import { refusalOfUpstream } from '../upstream-gate.js';
import { SessionStore } from '../sessions/session-store.js';
import {
  assertNameMirrored,
  assertParamsMirrored,
  HeaderMismatchError,
  isRepeated,
  mayLackHeaders,
} from './header-check.js';
import { originForm } from './endpoint-paths.js';
import type { Body } from './read-body.js';
import { StreamBus } from './stream-bus.js';
import { TransportError } from './transport-error.js';

/** One HTTP request, as the platform, Node and the body gate know it. */
export interface Incoming {
  /** Express's or Fastify's request and response. */
  readonly request: object;
  readonly response: object;
  /** Node's. */
  readonly rawRequest: IncomingMessage;
  readonly rawResponse: ServerResponse;
  /** The body of a POST. */
  readonly body?: Body;
  readonly authInfo?: AuthInfo;
}

/** A request that the SDK's handler has. */
interface HandledExchange {
  readonly incoming: Incoming;
  /** What it is answered with, whatever the SDK makes of it: of what a factory throws it has but one answer (500). */
  refusal?: Response;
}

/** Tells the SDK that a request is refused. */
class RefusedError extends Error {}

const METHODS = new Set(['POST', 'GET', 'DELETE']);

const SHUTTING_DOWN = new TransportError(503, -32000, 'The server is shutting down', true);

/** The most refused names of one kind that are logged. */
const MAX_NAMES = 100;
/** The most characters of one that are: a host name in DNS has no more. */
const MAX_NAME_LENGTH = 253;

/** The Streamable HTTP endpoint of one server: both eras, told apart request by request. */
export class HttpEndpoint {
  private readonly handler: McpHttpHandler;
  private readonly bus: StreamBus;
  private readonly sessions: SessionStore | undefined;
  /**
   * Answers that are not complete, each with its request, whose signal would never fire once it had been
   * garbage-collected.
   */
  private readonly open = new Map<ServerResponse, Request | undefined>();
  private readonly exchanges = new WeakMap<Request, HandledExchange>();
  /** Names whose refusal has been logged. */
  private readonly refused = { allowedHosts: new Set<string>(), allowedOrigins: new Set<string>() };

  constructor(
    private readonly host: McpServerHost,
    private readonly http: ResolvedHttpOptions,
  ) {
    const { legacy, sessions } = host.options;
    this.bus = new StreamBus(host.bus, error => host.report(error));
    this.handler = createMcpHandler(
      async ({ era, requestInfo }) => {
        // The SDK has checked the standard headers by now, and not done anything else.
        if (era === 'modern') await this.admit(requestInfo);
        return host.forExchange(era);
      },
      {
        legacy: legacy === 'stateless' ? 'stateless' : 'reject',
        bus: this.bus,
        maxSubscriptions: http.maxListeners,
        keepAliveMs: http.keepAliveMs,
        onerror: error => host.reportRejected(error),
      },
    );
    if (legacy === 'sessions') this.sessions = new SessionStore(host, sessions, http.keepAliveMs);
  }

  /**
   * Answers one request, and does not wait for the answer: enhancers of the application that are around the route would
   * measure and end calls of one era and not of the other. They are around the handler as well.
   */
  serve(incoming: Incoming): void {
    const { body, rawRequest, rawResponse } = incoming;
    if (this.host.running.isClosing) {
      SHUTTING_DOWN.send(rawResponse, { 'retry-after': '1' });
      return;
    }
    const refusal = this.refusal(incoming);
    if (refusal) {
      refusal.send(rawResponse, refusal.status === 405 ? { allow: [...METHODS].join(', ') } : {});
      return;
    }
    // The SDK puts the Host header in front of a target, even of one that has a host itself.
    rawRequest.url = originForm(rawRequest.url ?? '');
    this.open.set(rawResponse, undefined);
    rawResponse.once('close', () => this.open.delete(rawResponse));
    const handle = toNodeHandler(
      {
        fetch: async request => {
          if (this.open.has(rawResponse)) this.open.set(rawResponse, request);
          const response = await this.answer(request, incoming);
          if (response.headers.get('content-type') === 'text/event-stream') {
            // The adapter leaves the head to the first event, which may be long in coming.
            setImmediate(() => rawResponse.writableEnded || rawResponse.flushHeaders());
          }
          return response;
        },
      },
      { onerror: error => this.host.report(error) },
    );
    handle(rawRequest, rawResponse, body?.ok ? body.json : undefined).catch((error: Error) => {
      this.host.report(error);
      rawResponse.destroy();
    });
  }

  /**
   * Ends every exchange, stream and session.
   * @param timeoutMs how long clients may take to read what they have been answered, in milliseconds
   */
  async close(timeoutMs: number): Promise<void> {
    await Promise.all([this.handler.close(), this.sessions?.close()]);
    const over = new AbortController();
    const closed = [...this.open.keys()].map(response => once(response, 'close', { signal: over.signal }));
    const late = pause(timeoutMs, undefined, { signal: over.signal });
    await Promise.race([late, Promise.allSettled(closed)]);
    over.abort();
    await Promise.allSettled([late, ...closed]);
    for (const response of this.open.keys()) response.destroy();
  }

  private async answer(request: Request, incoming: Incoming): Promise<Response> {
    const { body, authInfo } = incoming;
    const parsedBody = body?.ok ? body.json : undefined;
    const options = { authInfo, parsedBody };
    const exchange: HandledExchange = { incoming };
    this.exchanges.set(request, exchange);
    this.host.bindHttp(request, incoming, declared =>
      noting(exchange, () => assertParamsMirrored(incoming.rawRequest, parsedBody, declared)),
    );
    const refusal =
      this.host.upstream && (await refusalOfUpstream(this.host, parsedBody, originOf(incoming)));
    // With HTTP 200, so that every client reads the code and the message.
    if (refusal) return Response.json({ jsonrpc: '2.0', id: idOf(parsedBody), error: refusal });
    if (this.sessions && (await isLegacyRequest(request, parsedBody)))
      return this.sessions.fetch(request, options);
    const handle = () => this.handler.fetch(request, options);
    const listen = listenOf(parsedBody);
    const response = await (listen ? this.bus.serve(listen, this.host.httpOf(request), handle) : handle());
    return exchange.refusal ?? response;
  }

  /** @throws Error for a request that is to be answered with a refusal */
  private async admit(request: Request | undefined): Promise<void> {
    const exchange = request && this.exchanges.get(request);
    if (!exchange) throw new Error('The SDK asks for a server for a request that nobody has sent');
    const { incoming } = exchange;
    const message = incoming.body?.ok ? incoming.body.json : undefined;
    noting(exchange, () => assertNameMirrored(incoming.rawRequest, message));
    // The SDK serves `subscriptions/listen` without a server of ours, so interceptors decide on it here.
    const listen = listenOf(message);
    const error =
      refusalOfResponses(message) ??
      (listen && (await refusalOfListen(this.host, listen, originOf(incoming))));
    if (!error) return;
    exchange.refusal = Response.json({ jsonrpc: '2.0', id: idOf(message), error });
    throw new RefusedError(error.message);
  }

  /** What is wrong with a request as such: where it goes, where it comes from, how it comes. */
  private refusal({ rawRequest, body }: Incoming): TransportError | undefined {
    if (mayLackHeaders(rawRequest)) {
      return new TransportError(431, -32000, 'Request Header Fields Too Large: it has too many headers');
    }
    const { allowedHosts, allowedOrigins } = this.http;
    const { headers, method = '' } = rawRequest;
    const { host = headers[':authority'] as string | undefined, origin } = headers;
    const known = validateHostHeader(host, allowedHosts === '*' ? [] : allowedHosts);
    if ((!known.ok && known.errorCode !== 'invalid_host') || /[\s/?#@\\]/.test(host ?? '')) {
      return new TransportError(400, -32000, 'Bad Request: the Host header is missing or malformed');
    }
    // Node keeps the first; whoever routed the request may have read another.
    if (isRepeated(rawRequest, 'host')) {
      return new TransportError(400, -32000, 'Bad Request: there is more than one Host header');
    }
    if (!known.ok && allowedHosts !== '*') {
      this.warnOfRefusal('Host', known.hostname, 'allowedHosts');
      return new TransportError(
        403,
        -32000,
        'Forbidden: the Host header names a host that this server does not serve',
      );
    }
    const from = validateOriginHeader(origin, allowedOrigins === '*' ? [] : allowedOrigins);
    if (!from.ok && allowedOrigins !== '*') {
      this.warnOfRefusal('Origin', from.hostname, 'allowedOrigins');
      return new TransportError(403, -32000, 'Forbidden: requests from this Origin are not accepted');
    }
    if (!METHODS.has(method)) return new TransportError(405, -32000, 'Method Not Allowed');
    if (method !== 'POST') return undefined;
    if (!isJsonContentType(headers['content-type'])) {
      return new TransportError(415, -32000, 'Unsupported Media Type: Content-Type must be application/json');
    }
    return body === undefined || body.ok ? undefined : body.error;
  }

  /** Once for each name: an operator has to learn of it, and callers can make names up. */
  private warnOfRefusal(header: string, name: string | undefined, option: keyof typeof this.refused): void {
    const names = this.refused[option];
    const shown = name?.slice(0, MAX_NAME_LENGTH);
    if (shown === undefined || names.has(shown) || names.size >= MAX_NAMES) return;
    names.add(shown);
    const message = `A request was refused, for its ${header} header names ${JSON.stringify(shown)}; if your clients use this name, add it to "http.${option}"`;
    this.host.report(new Error(message));
  }
}

/** The signal of the `Request` itself falls silent where the answer ends before the client hangs up. */
function originOf({ authInfo, rawRequest, rawResponse, request, response }: Incoming): Origin {
  const ended = new AbortController();
  if (rawResponse.destroyed) ended.abort();
  else rawResponse.once('close', () => ended.abort());
  return { signal: ended.signal, authInfo, http: { request, response, headers: rawRequest.headers } };
}

/** @throws HeaderMismatchError, which the request is to be answered with */
function noting(exchange: HandledExchange, check: () => void): void {
  try {
    check();
  } catch (error) {
    const { body } = exchange.incoming;
    if (error instanceof HeaderMismatchError)
      exchange.refusal = error.toResponse(idOf(body?.ok ? body.json : undefined));
    throw error;
  }
}

const idOf = (body: unknown): unknown => (body as { id?: unknown } | undefined)?.id ?? null;
