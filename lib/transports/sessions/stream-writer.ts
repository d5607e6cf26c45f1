import type { RequestId } from '@modelcontextprotocol/server';
import type { StoredEvent, StreamWrite } from '../../stores/event-store.js';

/** Maximum events that wait for the store. Then the oldest are dropped, because the answer comes last. */
const MAX_WAITING = 1000;

interface StreamWriterOptions {
  readonly stream: string;
  readonly requests: readonly RequestId[];
  readonly write: (write: StreamWrite) => Promise<void>;
  readonly onWritten: (write: StreamWrite) => void;
  readonly report: (error: Error) => unknown;
}

/**
 * Writes the stream of a call to the store. What comes during a write is written together after it. What the store
 * refuses is written later.
 */
export class StreamWriter {
  /** Resolves when the stream was written for the first time, successfully or not. */
  readonly begun: Promise<void>;
  private onBegun = () => {};
  private readonly waiting: StoredEvent[] = [];
  private requests?: readonly RequestId[];
  private hasEnded = false;
  /** Whether nothing will follow. */
  isOver = false;
  private isWriting = false;
  private beingWritten = 0;

  constructor(private readonly options: StreamWriterOptions) {
    this.requests = options.requests;
    this.begun = new Promise(resolve => (this.onBegun = resolve));
    this.schedule();
  }

  append(event: StoredEvent): void {
    this.waiting.push(event);
    if (this.waiting.length - this.beingWritten > MAX_WAITING) this.waiting.splice(this.beingWritten, 1);
    this.schedule();
  }

  /** Records that the stream is complete. */
  end(): void {
    this.hasEnded = true;
    this.schedule();
  }

  /** Writes again what the store has refused. */
  retry(): void {
    if (this.hasMore) this.schedule();
  }

  private get hasMore(): boolean {
    return this.waiting.length > 0 || this.requests !== undefined || (this.hasEnded && !this.isOver);
  }

  /** What is sent in the same turn is written together. */
  private schedule(): void {
    if (this.isWriting) return;
    this.isWriting = true;
    queueMicrotask(() => void this.write());
  }

  private async write(): Promise<void> {
    const { stream, write, onWritten, report } = this.options;
    const { requests, hasEnded } = this;
    const events = [...this.waiting];
    this.beingWritten = events.length;
    const own = { stream, events, ...(requests && { requests }), ...(hasEnded && { isOver: true }) };
    let isWritten = false;
    try {
      await write(own);
      isWritten = true;
      this.waiting.splice(0, events.length);
      this.requests = undefined;
      this.isOver = hasEnded;
    } catch (error) {
      report(error as Error);
    }
    this.isWriting = false;
    this.beingWritten = 0;
    this.onBegun();
    if (!isWritten) return;
    if (this.hasMore) this.schedule();
    onWritten(own);
  }
}
