import { AsyncLocalStorage } from 'node:async_hooks';
import {
  isJSONRPCRequest,
  isJSONRPCResponse,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type FetchLike,
  type JSONRPCMessage,
  type RequestId,
  type StreamableHTTPClientTransportOptions,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';

/** Whether what is being sent is answered by an event stream. Which answer it has, the SDK's transport does not tell. */
const sending = new AsyncLocalStorage<{ isStreamed?: boolean }>();

/**
 * The SDK's transport over HTTP, in which a request fails once it can no more be answered: where its event stream ended
 * before the answer and cannot be taken up again, or what came was no answer to it. The SDK's own would wait on.
 */
export class AnswerWatchingTransport extends StreamableHTTPClientTransport {
  private readonly unanswered = new Set<RequestId>();

  constructor(url: URL, options: StreamableHTTPClientTransportOptions & { fetch: FetchLike }) {
    super(url, {
      ...options,
      fetch: async (target, init) => {
        const response = await options.fetch(target, init);
        const sent = sending.getStore();
        if (sent) sent.isStreamed = isEventStream(response);
        return response;
      },
    });
    let receive: Transport['onmessage'];
    Object.defineProperty(this, 'onmessage', {
      get: () => receive,
      set: (handler: Transport['onmessage']) => {
        receive = (message, extra) => {
          if (isJSONRPCResponse(message) && message.id !== undefined) this.unanswered.delete(message.id);
          handler?.(message, extra);
        };
      },
    });
  }

  /**
   * Of a request, the promise settles only once nothing more can come of it.
   * @throws SdkError where that is before the answer
   */
  override async send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options: TransportSendOptions = {},
  ): Promise<void> {
    if (!isJSONRPCRequest(message)) return super.send(message, options);
    const { id, method } = message;
    const { requestSignal } = options;
    const sent: { isStreamed?: boolean } = {};
    this.unanswered.add(id);
    try {
      await new Promise<void>((resolve, reject) => {
        requestSignal?.addEventListener('abort', () => resolve(), { once: true });
        const onRequestStreamEnd = () => {
          options.onRequestStreamEnd?.();
          resolve();
        };
        sending
          .run(sent, () => super.send(message, { ...options, onRequestStreamEnd }))
          .then(() => sent.isStreamed || resolve(), reject);
      });
      if (!this.unanswered.has(id) || requestSignal?.aborted) return;
      throw new SdkError(SdkErrorCode.ConnectionClosed, `No answer to ${method} can come any more`);
    } finally {
      this.unanswered.delete(id);
    }
  }
}

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
