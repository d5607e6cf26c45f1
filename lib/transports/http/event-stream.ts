import type { ServerResponse } from 'node:http';

/** How much may wait for a client to read it, in bytes, before nothing more is written that can be left out or sent later. */
export const MAX_UNREAD_BYTES = 1024 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** A stream of server-sent events, each a JSON-RPC message (specification: basic/transports/streamable-http). */
export class EventStream {
  private readonly beat: NodeJS.Timeout | undefined;

  /** @param keepAliveMs how often a comment keeps the connection open, in milliseconds; 0: never */
  constructor(
    private readonly response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    keepAliveMs: number,
  ) {
    response.writeHead(200, { ...HEADERS, ...headers });
    response.flushHeaders();
    if (keepAliveMs > 0) {
      this.beat = setInterval(() => this.keepAlive(), keepAliveMs).unref();
      response.once('close', () => clearInterval(this.beat));
    }
  }

  /** Whether nothing can be sent any more. */
  get isOver(): boolean {
    return this.response.writableEnded || this.response.destroyed;
  }

  /** Whether the client leaves too much unread. */
  get isFull(): boolean {
    return this.response.writableLength > MAX_UNREAD_BYTES;
  }

  /** @param id of the event, if the client can resume the stream after it */
  send(json: string, id?: string): void {
    const head = id === undefined ? '' : `id: ${id}\n`;
    this.response.write(`event: message\n${head}data: ${json}\n\n`);
  }

  /** Sends what only tells the client something, unless too much waits for the client to read it. */
  tell(json: string): void {
    if (!this.isFull) this.send(json);
  }

  /** Gives the client an id to come back with, before there is a message (2025-11-25: basic/transports). */
  prime(id: string): void {
    this.response.write(`id: ${id}\ndata: \n\n`);
  }

  /** Ends the connection, and tells the client when to come back, in milliseconds. */
  pause(retryMs: number): void {
    this.response.write(`retry: ${retryMs}\n\n`);
    this.end();
  }

  end(): void {
    clearInterval(this.beat);
    this.response.end();
  }

  private keepAlive(): void {
    // A client that reads nothing need not be kept.
    if (!this.isFull) this.response.write(': keepalive\n\n');
  }
}
