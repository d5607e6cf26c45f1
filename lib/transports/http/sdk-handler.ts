import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isJSONRPCRequest,
  type JSONRPCRequest,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import { AuthChallenge } from '../../exceptions/auth-challenge.js';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import type { HttpExchange } from '../../protocol/mcp-call.js';
import type { JsonRpcError } from '../../protocol/errors.js';
import { assertNameHeader, type HeaderMismatchError } from '../../headers/header-check.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { serverForRequest } from '../../server/sdk-server.js';
import { listenOf, refusalOfListen } from '../listen.js';
import { refusalOfResponses, type Origin } from '../message-call.js';
import type { Incoming } from './incoming.js';
import { httpOf } from './request-call.js';
import { StreamBus } from './stream-bus.js';

/** A request in the SDK's handler. */
interface HandledRequest {
  readonly incoming: Incoming;
  readonly http: HttpExchange;
  /** Replaces the SDK's answer, because the SDK answers every error of a factory with HTTP 500. */
  refusal?: Response;
}

/**
 * The SDK's own handler. It serves `subscriptions/listen`, 2025-era clients without sessions, and unusual requests that
 * the SDK has to check. Its servers call the same pipeline.
 */
export class SdkHandler {
  private readonly handler: McpHttpHandler;
  private readonly bus: StreamBus;
  private readonly requests = new WeakMap<Request, HandledRequest>();

  constructor(
    private readonly server: McpServerInstance,
    http: ResolvedHttpOptions,
  ) {
    this.bus = new StreamBus(server.bus, error => server.report(error));
    this.handler = createMcpHandler(
      async ({ era, requestInfo }) => {
        // At this point, the SDK has only checked the standard headers.
        if (era === 'modern') await this.admit(requestInfo);
        return serverForRequest(server, era, request => request && this.requests.get(request)?.http);
      },
      {
        legacy: server.options.legacy === 'stateless' ? 'stateless' : 'reject',
        bus: this.bus,
        // Unlimited, because `ListenerLimit` counts the streams of each caller before.
        maxSubscriptions: Infinity,
        keepAliveMs: http.keepAliveMs,
        onerror: error => server.reportRejected(error),
      },
    );
  }

  serve(incoming: Incoming): Promise<void> {
    const { rawRequest, rawResponse, body } = incoming;
    const json = body?.ok ? body.json : undefined;
    const fetch = async (request: Request): Promise<Response> => {
      const response = await this.answer(request, incoming, json);
      if (response.status >= 400) this.server.refused(response.status);
      if (response.headers.get('content-type') === 'text/event-stream') {
        // The adapter sends the headers with the first event, which may come late.
        setImmediate(() => rawResponse.writableEnded || rawResponse.flushHeaders());
      }
      return response;
    };
    const handle = toNodeHandler({ fetch }, { onerror: error => this.server.report(error) });
    return handle(rawRequest, rawResponse, json);
  }

  close(): Promise<void> {
    return this.handler.close();
  }

  private async answer(request: Request, incoming: Incoming, json: unknown): Promise<Response> {
    // With only a `WeakMap`, the request could be collected, and its signal would never abort.
    incoming.rawResponse.once('close', () => this.requests.delete(request));
    const handled: HandledRequest = { incoming, http: httpOf(incoming) };
    this.requests.set(request, handled);
    const handle = () => this.handler.fetch(request, { authInfo: incoming.authInfo, parsedBody: json });
    const listen = listenOf(json);
    const response = await (listen ? this.bus.serve(listen, incoming.rawResponse, handle) : handle());
    return handled.refusal ?? response;
  }

  /** @throws Error if the request must be answered with a refusal */
  private async admit(request: Request | undefined): Promise<void> {
    const handled = request && this.requests.get(request);
    if (!handled) throw new Error('The SDK asks for a server for an unknown request');
    const { incoming, http } = handled;
    const message = incoming.body?.ok ? incoming.body.json : undefined;
    if (!isJSONRPCRequest(message)) return;
    try {
      const { method, params = {} } = message;
      assertNameHeader(http, method, params, this.server.ownMethods.get(method)?.nameHeader);
    } catch (error) {
      const { code, message: text, data } = error as HeaderMismatchError;
      throw refuse(handled, message, { code, message: text, data }, 400);
    }
    // The SDK serves `subscriptions/listen` without one of our servers, so interceptors run here.
    const listen = listenOf(message);
    const error =
      refusalOfResponses(message) ??
      (listen && (await refusalOfListen(this.server, listen, originOf(incoming)).catch(challenged)));
    if (error instanceof AuthChallenge) {
      const { code, message: text, status, headers } = error;
      throw refuse(handled, message, { code, message: text }, status, headers);
    }
    if (error) throw refuse(handled, message, error, 200);
  }
}

function challenged(error: unknown): AuthChallenge {
  if (error instanceof AuthChallenge) return error;
  throw error;
}

/** @returns an error that makes the SDK stop */
function refuse(
  handled: HandledRequest,
  { id }: JSONRPCRequest,
  error: JsonRpcError,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Error {
  handled.refusal = Response.json({ jsonrpc: '2.0', id, error }, { status, headers });
  return new Error(error.message);
}

/** Shared, because `abort()` would capture a stack at the end of each request. */
const CLOSED = new DOMException('The connection is closed', 'AbortError');

/**
 * The origin of a request. Its own signal is used, because the signal of the `Request` does not abort after the answer
 * has ended.
 */
export function originOf(incoming: Incoming): Origin {
  const { authInfo, rawResponse } = incoming;
  const ended = new AbortController();
  if (rawResponse.destroyed) ended.abort(CLOSED);
  else rawResponse.once('close', () => ended.abort(CLOSED));
  return { signal: ended.signal, authInfo, http: httpOf(incoming) };
}
