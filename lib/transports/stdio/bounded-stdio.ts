import { isJSONRPCNotification, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Readable, Writable } from 'node:stream';
import { MAX_UNREAD_BYTES } from '../http/event-stream.js';
import { MAX_LINE_BYTES } from './stdin-lines.js';

/** Maximum unread characters of JSON before the connection ends: 64 MiB. */
export const MAX_UNREAD_TOTAL = 64 * 1024 * 1024;

/** Notifications that may be dropped. */
const TELLING = new Set([
  'notifications/progress',
  'notifications/message',
  'notifications/resources/updated',
]);

/** The SDK's transport, with bounds on unread messages. */
export class BoundedStdio extends StdioServerTransport {
  private isOver = false;

  /** @param onOverflow called once, when a client has too much unread data; after that, nothing is sent */
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
