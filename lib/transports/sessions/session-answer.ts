import type { ServerResponse } from 'node:http';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { PostAnswer, type PostAnswerOptions } from '../http/post-answer.js';
import type { SessionStream } from './session-stream.js';
import type { SessionStreams } from './session-streams.js';

/** The answer to a POST of a session. As a stream, it survives its connection. */
export class SessionAnswer extends PostAnswer {
  private resumable?: SessionStream;
  /** How long the client was last asked to stay away, in milliseconds; 0 once `LeftCalls` counts it. */
  pausedMs = 0;

  /** @param left called when the connection has closed */
  constructor(
    response: ServerResponse,
    options: PostAnswerOptions,
    private readonly streams: SessionStreams,
    readonly requests: readonly JSONRPCRequest[],
    private readonly left: (answer: SessionAnswer) => void,
  ) {
    super(response, options);
  }

  /** Whether the client can reconnect for the answer if its connection breaks. */
  get canResume(): boolean {
    return this.resumable !== undefined;
  }

  /** The connection has closed, with the answer or before it. */
  cancel(): void {
    this.left(this);
  }

  /** Ends the connection. The client should reconnect for the answer after `retryMs` milliseconds. */
  override pause(retryMs: number): void {
    if (this.isOver) return;
    this.asStream();
    this.pausedMs = retryMs;
    this.resumable?.pause(retryMs);
  }

  protected override openStream(): SessionStream {
    return (this.resumable = this.streams.openFor(
      this.response,
      this.requests.map(({ id }) => id),
    ));
  }
}
