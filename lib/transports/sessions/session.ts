import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type McpHandlerRequestOptions,
  type RequestId,
  type WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import type { ConnectionServer } from '../../server/connection-server.js';

/** One 2025-era session. It ends itself when it has been without a request and without a stream for too long. */
export class Session {
  private readonly timer: NodeJS.Timeout;
  /** Requests and streams that are open. They are kept because the signal of a `Request` falls silent without it. */
  private readonly open = new Set<Request>();
  /** The ids of the calls among them, each with those of its batch that are to be answered. */
  private readonly calls = new Map<RequestId, Set<RequestId>>();

  /** @param caller who opened the session; it serves nobody else */
  constructor(
    readonly id: string,
    readonly caller: string,
    readonly server: ConnectionServer,
    private readonly transport: WebStandardStreamableHTTPServerTransport,
    idleTimeoutMs: number,
  ) {
    this.timer = setTimeout(() => this.onIdle(), idleTimeoutMs);
    this.timer.unref();
  }

  async serve(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    const ids = requestIds(options.parsedBody);
    const taken = ids.find(id => this.calls.has(id)) ?? repeated(ids);
    // The SDK's transport would send both answers to one of the two, and leave the other without an end.
    if (taken !== undefined) return idInUse(taken);
    this.open.add(request);
    const awaited = new Set(ids);
    ids.forEach(id => this.calls.set(id, awaited));
    const done = () => {
      if (!this.open.delete(request)) return;
      ids.forEach(id => this.calls.delete(id));
      this.timer.refresh();
    };
    try {
      const response = await this.transport.handleRequest(request, options);
      for (const id of cancelledIds(options.parsedBody)) this.forget(id);
      return untilEnd(response, request.signal, {
        onHangUp: () => ids.forEach(id => this.cancel(id)),
        done,
      });
    } catch (error) {
      done();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.transport.close();
  }

  /** Stops the clock of a session that has ended. */
  dispose(): void {
    clearTimeout(this.timer);
  }

  /** The client hung up: as nothing keeps its answers for later, the call is as good as cancelled. */
  private cancel(requestId: RequestId): void {
    this.transport.onmessage?.({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason: 'The client disconnected' },
    });
    this.forget(requestId);
  }

  /**
   * A cancelled request is never answered, and the SDK's transport keeps a request's stream until it is: so a client
   * that cancels a lot would grow the session without end. An answer after the stream has closed goes nowhere, and
   * lets the transport forget the request. Only where the stream still has to carry others of a batch, it is written.
   */
  private forget(requestId: RequestId): void {
    const awaited = this.calls.get(requestId);
    awaited?.delete(requestId);
    if (!awaited?.size) this.transport.closeSSEStream(requestId);
    const error = { code: -32000, message: 'Cancelled' };
    this.transport.send({ jsonrpc: '2.0', id: requestId, error }).catch(() => undefined);
  }

  private onIdle(): void {
    if (this.open.size > 0) this.timer.refresh();
    else void this.close();
  }
}

const messagesOf = (body: unknown): unknown[] => (Array.isArray(body) ? body : [body]);

const requestIds = (body: unknown): RequestId[] =>
  messagesOf(body)
    .filter(isJSONRPCRequest)
    .map(({ id }) => id);

const cancelledIds = (body: unknown): RequestId[] =>
  messagesOf(body)
    .filter(isJSONRPCNotification)
    .filter(({ method }) => method === 'notifications/cancelled')
    .flatMap(({ params }) => (params?.['requestId'] === undefined ? [] : [params['requestId'] as RequestId]));

function repeated(ids: readonly RequestId[]): RequestId | undefined {
  const seen = new Set<RequestId>();
  for (const id of ids) {
    if (seen.has(id)) return id;
    seen.add(id);
  }
  return undefined;
}

function idInUse(id: RequestId): Response {
  const error = { code: McpErrorCode.InvalidRequest, message: 'Invalid Request: the id is in use' };
  return Response.json({ jsonrpc: '2.0', id, error }, { status: 400 });
}

interface End {
  /** Called when the client hangs up before the end. */
  readonly onHangUp: () => void;
  /** Called, perhaps more than once, when the response has been read to its end or given up. */
  readonly done: () => void;
}

/**
 * The response, with its end observed. Whoever reads it may learn only by writing that the client is gone, and there
 * may be nothing to write for long, so a client that hangs up ends it here.
 */
function untilEnd(response: Response, signal: AbortSignal, { onHangUp, done }: End): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const hangUp = () => {
    onHangUp();
    end();
    reader.cancel().catch(() => undefined);
  };
  const end = () => {
    signal.removeEventListener('abort', hangUp);
    done();
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (!ended) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      end();
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  if (signal.aborted) hangUp();
  else signal.addEventListener('abort', hangUp, { once: true });
  return new Response(body, response);
}
