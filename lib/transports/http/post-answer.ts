import type { ServerResponse } from 'node:http';
import { EventStream } from './event-stream.js';

export interface PostAnswerOptions {
  readonly keepAliveMs: number;
  /** Headers of every answer of the transport. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of requests in the POST. Default: 1. */
  readonly awaited?: number;
  /** Whether the requests came in a batch, so that the answers form a batch, too. */
  readonly isBatch?: boolean;
}

const NO_HEADERS = {};

/** The stream for messages of an answer. */
export interface MessageStream {
  readonly isOver: boolean;
  send(json: string): void;
  /** Sends a notification. It may be dropped if the client does not read. */
  tell(json: string): void;
  end(): void;
}

/** The answer to a POST: JSON, or an event stream as soon as something is sent before the answer. */
export class PostAnswer {
  private stream?: MessageStream;
  private readonly answers: string[] = [];
  private awaited: number;
  private status = 200;
  /** The headers of a refusal. Its status applies to the whole batch. */
  private refusal?: Readonly<Record<string, string>>;

  constructor(
    protected readonly response: ServerResponse,
    protected readonly options: PostAnswerOptions,
  ) {
    this.awaited = options.awaited ?? 1;
  }

  get isOver(): boolean {
    return this.stream ? this.stream.isOver : this.response.writableEnded || this.response.destroyed;
  }

  /** Sends a message before the answer. */
  send(json: string): void {
    if (!this.isOver) this.asStream().send(json);
  }

  /** Sends a notification before the answer. It is dropped if the client does not read. */
  tell(json: string): void {
    if (!this.isOver) this.asStream().tell(json);
  }

  /** Ends the connection for a time. Only the client of a session can reconnect for the answer. */
  pause(_retryMs: number): void {}

  /**
   * @param status the HTTP status, if the answer is JSON
   * @param refusal headers of a refusal by token or by a limit
   */
  answer(json: string, status = 200, refusal?: Readonly<Record<string, string>>): void {
    if (this.isOver) return;
    if (refusal) this.refusal = refusal;
    if (refusal || !this.refusal) this.status = status;
    if (this.stream) this.stream.send(json);
    else this.answers.push(json);
    this.settle();
  }

  /** Ends a cancelled request without an answer. */
  drop(): void {
    if (!this.isOver) this.settle();
  }

  private settle(): void {
    this.awaited -= 1;
    if (this.stream) {
      if (this.awaited === 0) this.stream.end();
    } else if (this.awaited === 0) this.end();
  }

  private end(): void {
    // All requests were cancelled, so the stream ends without a message.
    if (this.answers.length === 0) return this.asStream().end();
    const json = this.options.isBatch ? `[${this.answers.join(',')}]` : this.answers[0];
    const { headers } = this.options;
    writeJson(this.response, this.status, json, this.refusal ? { ...headers, ...this.refusal } : headers);
  }

  protected asStream(): MessageStream {
    if (this.stream) return this.stream;
    this.stream = this.openStream();
    for (const json of this.answers.splice(0)) this.stream.send(json);
    return this.stream;
  }

  protected openStream(): MessageStream {
    const { headers = NO_HEADERS, keepAliveMs } = this.options;
    return new EventStream(this.response, headers, keepAliveMs);
  }
}

export function writeJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = NO_HEADERS,
): void {
  const own = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
  response.writeHead(status, headers === NO_HEADERS ? own : Object.assign(own, headers));
  response.end(json);
}
