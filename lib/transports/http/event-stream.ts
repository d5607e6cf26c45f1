import type { ServerResponse } from 'node:http';

/** Maximum unread bytes of a client. Past it, the server drops or delays messages if it can. */
export const MAX_UNREAD_BYTES = 1024 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** When the latest message was written to a response, in milliseconds since 1970. */
export const WRITTEN_AT = new WeakMap<ServerResponse, number>();

/** A stream of server-sent events, each a JSON-RPC message (specification: basic/transports/streamable-http). */
export class EventStream {
  private readonly beat: NodeJS.Timeout | undefined;

  /** @param keepAliveMs interval of keep-alive comments, in milliseconds; 0 turns them off */
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

  get isOver(): boolean {
    return this.response.writableEnded || this.response.destroyed;
  }

  /** Whether the client has too much unread data. */
  get isFull(): boolean {
    return this.response.writableLength > MAX_UNREAD_BYTES;
  }

  /** @param id of the event, if the client can resume the stream after it */
  send(json: string, id?: string): void {
    WRITTEN_AT.set(this.response, Date.now());
    const head = id === undefined ? '' : `id: ${id}\n`;
    this.response.write(`event: message\n${head}data: ${json}\n\n`);
  }

  /** Sends a notification, unless the client has too much unread data. */
  tell(json: string): void {
    if (!this.isFull) this.send(json);
  }

  /** Sends an event id without a message, so that the client can reconnect at once (2025-11-25: basic/transports). */
  prime(id: string): void {
    this.response.write(`id: ${id}\ndata: \n\n`);
  }

  /** Ends the connection. The client should reconnect after `retryMs` milliseconds. */
  pause(retryMs: number): void {
    this.response.write(`retry: ${retryMs}\n\n`);
    this.end();
  }

  end(): void {
    clearInterval(this.beat);
    this.response.end();
  }

  private keepAlive(): void {
    // A client that reads nothing does not need to be kept alive.
    if (!this.isFull) this.response.write(': keepalive\n\n');
  }
}
