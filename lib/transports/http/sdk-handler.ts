import { createMcpHandler, isJSONRPCRequest, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import type { HttpExchange } from '../../protocol/mcp-call.js';
import { errorOf, type JsonRpcError } from '../../protocol/errors.js';
import { assertNameHeader } from '../../headers/header-check.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { serverForRequest } from '../../server/sdk-server.js';
import { refusalOfResponses } from '../message-call.js';
import type { Incoming } from './incoming.js';
import { httpOf } from './request-call.js';

/** A request in the SDK's handler. */
interface HandledRequest {
  readonly json: unknown;
  readonly http: HttpExchange;
  /** Replaces the SDK's answer, because the SDK answers every error of a factory with HTTP 500. */
  refusal?: Response;
}

/**
 * The SDK's own handler. It gets what `HttpEndpoint` does not answer by the pipeline, because the SDK knows the answer:
 * - requests with wrong headers or a wrong envelope, because the order of the SDK's checks decides on the error
 * - unknown methods, and the methods without a pipeline: `initialize`, `ping`, `server/discover`, `logging/setLevel`
 * - without sessions, batches, notifications, GET and DELETE of 2025-era clients, and requests that do not accept both
 *   types of an answer
 *
 * The SDK's servers also serve the same part of a session (`Session`), and all requests over stdio with one reply. Their
 * handlers call the pipeline (`SdkServer`).
 */
export class SdkHandler {
  private readonly handler: McpHttpHandler;
  private readonly requests = new WeakMap<Request, HandledRequest>();

  constructor(
    private readonly server: McpServerInstance,
    http: ResolvedHttpOptions,
  ) {
    this.handler = createMcpHandler(
      ({ era, requestInfo }) => {
        // At this point, the SDK has only checked the standard headers.
        if (era === 'modern') this.admit(requestInfo);
        return serverForRequest(server, era, request => request && this.requests.get(request)?.http);
      },
      {
        legacy: server.options.legacy === 'stateless' ? 'stateless' : 'reject',
        // The pipeline answers `subscriptions/listen`.
        maxSubscriptions: 0,
        keepAliveMs: http.keepAliveMs,
        onerror: error => server.reportRejected(error),
      },
    );
  }

  async serve(incoming: Incoming): Promise<void> {
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
    // Loaded on demand, because most clients never need it.
    const { toNodeHandler } = await import('@modelcontextprotocol/node');
    const handle = toNodeHandler({ fetch }, { onerror: error => this.server.report(error) });
    return handle(rawRequest, rawResponse, json);
  }

  close(): Promise<void> {
    return this.handler.close();
  }

  private async answer(request: Request, incoming: Incoming, json: unknown): Promise<Response> {
    // With only a `WeakMap`, the request could be collected, and its signal would never abort.
    incoming.rawResponse.once('close', () => this.requests.delete(request));
    const handled: HandledRequest = { json, http: httpOf(incoming) };
    this.requests.set(request, handled);
    const { authInfo } = incoming;
    const response = await this.handler.fetch(request, { authInfo, parsedBody: json });
    return handled.refusal ?? response;
  }

  /** @throws Error if the request must be answered with a refusal */
  private admit(request: Request | undefined): void {
    const handled = request && this.requests.get(request);
    if (!handled) throw new Error('The SDK asks for a server for an unknown request');
    const { json, http } = handled;
    if (!isJSONRPCRequest(json)) return;
    const { id, method, params = {} } = json;
    const refuse = (error: JsonRpcError, status: number): Error => {
      handled.refusal = Response.json({ jsonrpc: '2.0', id, error }, { status });
      return new Error(error.message);
    };
    try {
      assertNameHeader(http, method, params, this.server.ownMethods.get(method)?.nameHeader);
    } catch (error) {
      throw refuse(errorOf(error, method), 400);
    }
    const malformed = refusalOfResponses(json);
    if (malformed) throw refuse(malformed, 200);
  }
}
