import { MAX_UNREAD_BYTES } from './event-stream.js';

/** What a request's client is told meanwhile, and has not read. One that does not read may not fill the memory. */
export class NotificationBuffer {
  /** How much was sent since the client last kept up, in characters of JSON. */
  private length = 0;
  /** How many are being sent. */
  private sending = 0;

  /** @param response carries the answer, if it is known */
  constructor(private readonly response: { readonly writableNeedDrain?: boolean } | undefined) {}

  /** Sends progress or a log message, unless too much waits: then it is lost. */
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
