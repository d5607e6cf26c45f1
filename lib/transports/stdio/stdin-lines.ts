import { Transform, type TransformCallback, type Writable } from 'node:stream';
import { MAX_UNREAD_BYTES } from '../http/event-stream.js';

/** Maximum bytes of a line from the client: 10 MiB. */
export const MAX_LINE_BYTES = 10 * 1024 * 1024;

const NEWLINE = 0x0a;

interface StdinEvents {
  /** Called for every line that is too long. The line is skipped. */
  onTooLong(): void;
  /** Called once, after all input has been passed on. */
  onEnd(): void;
}

/**
 * Passes stdin to the SDK's transport line by line. It pauses while the client has much unread data on stdout. It stays
 * open when stdin ends, because running calls still need answers; the SDK closes the connection.
 */
export class StdinLines extends Transform {
  private parts: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly stdout: Writable,
    private readonly events: StdinEvents,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.addPart(chunk.subarray(start, end));
      if (newline >= 0) this.endLine();
      start = end;
    }
    if (this.stdout.writableLength > MAX_UNREAD_BYTES) this.stdout.once('drain', () => done());
    else done();
  }

  /** Does not end the stream. */
  override _flush(): void {
    this.events.onEnd();
  }

  private addPart(part: Buffer): void {
    const wasTooLong = this.length > MAX_LINE_BYTES;
    this.length += part.length;
    if (this.length <= MAX_LINE_BYTES) this.parts.push(part);
    else if (!wasTooLong) {
      this.parts = [];
      this.events.onTooLong();
    }
  }

  private endLine(): void {
    if (this.length <= MAX_LINE_BYTES) this.push(Buffer.concat(this.parts));
    this.parts = [];
    this.length = 0;
  }
}
