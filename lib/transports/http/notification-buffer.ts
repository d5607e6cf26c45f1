import { MAX_UNREAD_BYTES } from './event-stream.js';

/** Bounds the unread notifications of a request, so that a client that does not read cannot fill the memory. */
export class NotificationBuffer {
  /** The characters of JSON sent since the client last caught up. */
  private length = 0;
  /** The number of notifications that are being sent. */
  private sending = 0;

  /** @param response carries the answer, if it is known */
  constructor(private readonly response: { readonly writableNeedDrain?: boolean } | undefined) {}

  /** Sends progress or a log message. If too much is unread, the message is dropped. */
  async send(content: unknown, send: () => Promise<void>): Promise<void> {
    if (this.sending === 0 && !this.response?.writableNeedDrain) this.length = 0;
    if (this.length > MAX_UNREAD_BYTES) return;
    this.length += JSON.stringify(content)?.length ?? 0;
    this.sending += 1;
    try {
      await send();
    } finally {
      this.sending -= 1;
    }
  }
}
