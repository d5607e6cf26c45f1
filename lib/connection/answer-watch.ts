import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Sdk from '@modelcontextprotocol/client';
import type {
  FetchLike,
  JSONRPCMessage,
  JSONRPCRequest,
  RequestId,
  StreamableHTTPClientTransport,
  StreamableHTTPClientTransportOptions,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import {
  isInitializedNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/server';
import type { ServerSession } from './server-session.js';
import { isEventStream } from './bounded-fetch.js';
import { isOrdinary, type DirectPost } from './direct-post.js';
import { withRetryAfter } from './transient.js';

interface Sending {
  /** Whether an event stream answers the message. The SDK's transport does not report it. */
  isStreamed?: boolean;
  /** The response to a message that was posted without the SDK's transport. */
  response?: Response;
  /** The header `Retry-After` of the response. The SDK's error leaves it out. */
  retryAfter?: string | null;
}

const sending = new AsyncLocalStorage<Sending>();

export interface Options extends StreamableHTTPClientTransportOptions {
  readonly fetch: FetchLike;
  /** Posts ordinary calls. */
  readonly directPost?: DirectPost;
  /** A session to continue: the handshake that another node has made is not sent again. */
  readonly resumed?: ServerSession;
}

export interface ResumingTransport extends StreamableHTTPClientTransport {
  /** Opens the stream of what belongs to no call, which the SDK's transport opens only after a handshake. */
  listen(): Promise<void>;
}

type AnswerWatchingTransport = new (url: URL, options: Options) => ResumingTransport;

/** Fails a request when its stream ends without the answer. The SDK's transport would wait forever. */
export function answerWatchingTransport({
  StreamableHTTPClientTransport: SdkTransport,
}: typeof Sdk): AnswerWatchingTransport {
  return class AnswerWatchingTransport extends SdkTransport {
    private readonly unanswered = new Set<RequestId>();
    /** End the direct posts. */
    private readonly posts = new Set<AbortController>();
    private readonly directPost?: DirectPost;
    /** Until the client has made its handshake. */
    private resumed?: ServerSession;

    constructor(url: URL, { directPost, resumed, ...options }: Options) {
      super(url, {
        ...options,
        sessionId: resumed?.id,
        fetch: async (target, init) => {
          const sent = sending.getStore();
          const response = sent?.response ?? (await options.fetch(target, init));
          if (sent) {
            const retryAfter = response.headers.get('retry-after');
            Object.assign(sent, { isStreamed: isEventStream(response), response: undefined, retryAfter });
          }
          return response;
        },
      });
      this.directPost = directPost;
      this.resumed = resumed;
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

    /** With a session id, the SDK's client makes no handshake, and does not know what the server can do. */
    override get sessionId(): string | undefined {
      return this.resumed ? undefined : super.sessionId;
    }

    listen(): Promise<void> {
      return this.resumeStream('');
    }

    /** @throws SdkError if the stream ended without an answer */
    override async send(
      message: JSONRPCMessage | JSONRPCMessage[],
      options: TransportSendOptions = {},
    ): Promise<void> {
      const { resumed } = this;
      if (resumed && isInitializedNotification(message)) return void (this.resumed = undefined);
      if (!isJSONRPCRequest(message)) return super.send(message, options);
      const { id, method } = message;
      // The server has answered the handshake of the other node.
      if (resumed) return this.onmessage?.({ jsonrpc: '2.0', id, result: { ...resumed.result } });
      const { requestSignal } = options;
      const post = new AbortController();
      this.unanswered.add(id);
      try {
        const sent: Sending = { response: await this.postDirectly(message, options, post) };
        if (!this.unanswered.has(id)) return;
        await new Promise<void>((resolve, reject) => {
          requestSignal?.addEventListener('abort', () => resolve(), { once: true });
          const onRequestStreamEnd = () => {
            options.onRequestStreamEnd?.();
            resolve();
          };
          sending
            .run(sent, () => super.send(message, { ...options, onRequestStreamEnd }))
            .then(
              () => sent.isStreamed || resolve(),
              (error: Error) => reject(withRetryAfter(error, sent.retryAfter)),
            );
        });
        if (!this.unanswered.has(id) || requestSignal?.aborted) return;
        throw new SdkError(SdkErrorCode.ConnectionClosed, `No answer to ${method} can come any more`);
      } finally {
        this.unanswered.delete(id);
        this.posts.delete(post);
      }
    }

    override async close(): Promise<void> {
      for (const post of this.posts) post.abort();
      await super.close();
    }

    /** Returns the response if the SDK's transport has to read it. */
    private async postDirectly(
      message: JSONRPCRequest,
      { headers, requestSignal }: TransportSendOptions,
      post: AbortController,
    ): Promise<Response | undefined> {
      if (!this.directPost || !isOrdinary(message, headers)) return undefined;
      this.posts.add(post);
      requestSignal?.addEventListener('abort', () => post.abort(), { once: true });
      try {
        const answer = await this.directPost(message, headers, post.signal);
        if (answer instanceof Response) return answer;
        this.onmessage?.(answer as unknown as JSONRPCMessage);
      } catch (error) {
        if (requestSignal?.aborted !== true) this.onerror?.(error as Error);
        throw error;
      }
      return undefined;
    }
  };
}
