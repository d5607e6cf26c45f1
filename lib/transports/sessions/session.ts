import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type AuthInfo,
  type McpHandlerRequestOptions,
  type RequestId,
  type WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** One 2025-era session. It ends itself when it has been without a request and without a stream for too long. */
export class Session {
  private readonly timer: NodeJS.Timeout;
  /** Requests and streams that are open. */
  private active = 0;

  constructor(
    readonly id: string,
    private readonly transport: WebStandardStreamableHTTPServerTransport,
    private readonly owner: AuthInfo | undefined,
    idleTimeoutMs: number,
  ) {
    this.timer = setTimeout(() => this.onIdle(), idleTimeoutMs);
    this.timer.unref();
  }

  /** A session opened by an authenticated client serves that client alone. */
  belongsTo(caller: AuthInfo | undefined): boolean {
    return this.owner?.clientId === caller?.clientId;
  }

  async serve(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    this.active += 1;
    const { signal } = request;
    const requests = requestIds(options.parsedBody);
    const onAbort = () => requests.forEach(id => this.cancel(id));
    const done = () => {
      signal.removeEventListener('abort', onAbort);
      this.active -= 1;
      this.timer.refresh();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const response = await this.transport.handleRequest(request, options);
      for (const id of cancelledIds(options.parsedBody)) this.forget(id);
      return onEnd(response, done);
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
   * lets the transport forget the request.
   */
  private forget(requestId: RequestId): void {
    this.transport.closeSSEStream(requestId);
    const error = { code: -32000, message: 'Cancelled' };
    this.transport.send({ jsonrpc: '2.0', id: requestId, error }).catch(() => undefined);
  }

  private onIdle(): void {
    if (this.active > 0) this.timer.refresh();
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

/** Calls `done` once, when the response has been read to its end or given up. */
function onEnd(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (!ended) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      done();
    },
    async cancel(reason) {
      done();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
