import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Sdk from '@modelcontextprotocol/client';
import type {
  FetchLike,
  JSONRPCMessage,
  RequestId,
  StreamableHTTPClientTransport,
  StreamableHTTPClientTransportOptions,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { isJSONRPCRequest, isJSONRPCResponse, SdkError, SdkErrorCode } from '@modelcontextprotocol/server';

/** Records whether an event stream answers the message that is being sent. The SDK's transport does not report it. */
const sending = new AsyncLocalStorage<{ isStreamed?: boolean }>();

type AnswerWatchingTransport = new (
  url: URL,
  options: StreamableHTTPClientTransportOptions & { fetch: FetchLike },
) => StreamableHTTPClientTransport;

/** Fails a request when its stream ends without the answer. The SDK's transport would wait forever. */
export function answerWatchingTransport({
  StreamableHTTPClientTransport: SdkTransport,
}: typeof Sdk): AnswerWatchingTransport {
  return class AnswerWatchingTransport extends SdkTransport {
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

    /** @throws SdkError if the stream ended without an answer */
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
  };
}

export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
