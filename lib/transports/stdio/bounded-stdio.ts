import { isJSONRPCNotification, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Readable, Writable } from 'node:stream';
import { MAX_UNREAD_BYTES } from '../http/event-stream.js';
import { MAX_LINE_BYTES } from './stdin-lines.js';

/** How much a client may leave unread before the connection ends, in characters of JSON: 64 MiB. */
export const MAX_UNREAD_TOTAL = 64 * 1024 * 1024;

/** Notifications that only tell a client something. */
const TELLING = new Set([
  'notifications/progress',
  'notifications/message',
  'notifications/resources/updated',
]);

/** The SDK's transport, with bounds on what waits for a client to read it. */
export class BoundedStdio extends StdioServerTransport {
  private isOver = false;

  /** @param onOverflow called once, where a client leaves too much unread; nothing is sent from then on */
  constructor(
    stdin: Readable,
    private readonly stdout: Writable,
    private readonly onOverflow: () => void,
  ) {
    super(stdin, stdout, { maxBufferSize: MAX_LINE_BYTES });
  }

  override send(message: JSONRPCMessage): Promise<void> {
    const unread = this.stdout.writableLength;
    if (unread > MAX_UNREAD_BYTES && isJSONRPCNotification(message) && TELLING.has(message.method)) {
      return Promise.resolve();
    }
    if (unread > MAX_UNREAD_TOTAL && !this.isOver) {
      this.isOver = true;
      this.onOverflow();
    }
    return this.isOver ? Promise.reject(new Error('The client does not read stdout')) : super.send(message);
  }
}
