import type { ServerResponse } from 'node:http';

/** How much may wait for a client to read it, in bytes, before a message that only tells it something is dropped. */
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
      this.beat = setInterval(() => response.write(': keepalive\n\n'), keepAliveMs).unref();
      response.once('close', () => clearInterval(this.beat));
    }
  }

  send(json: string): void {
    this.response.write(`event: message\ndata: ${json}\n\n`);
  }

  /** Sends what only tells the client something, unless too much waits for the client to read it. */
  tell(json: string): void {
    if (this.response.writableLength <= MAX_UNREAD_BYTES) this.send(json);
  }

  end(): void {
    clearInterval(this.beat);
    this.response.end();
  }
}
