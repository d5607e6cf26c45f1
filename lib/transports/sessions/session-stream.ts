import type { ServerResponse } from 'node:http';
import { EventStream } from '../http/event-stream.js';
import type { EventStore } from '../../protocol/event-store.js';

/** What the streams of a session have in common. */
export interface StreamSettings {
  readonly session: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly keepAliveMs: number;
  readonly store: EventStore;
  /** Whether the client understands an event without a message (since 2025-11-25). */
  readonly isPrimed: () => boolean;
  readonly report: (error: Error) => void;
}

/**
 * A stream of a session that outlives its connection: the client comes back with the id of the last event that it has. All
 * messages are stored before they are written; while nobody reads, or reads too slowly, they are stored only.
 */
export class SessionStream {
  private reader?: EventStream;
  /** The event that was stored last. */
  private stored = 0;
  /** The event that the reader got last. */
  private written = 0;
  private isCatchingUp = false;
  private hasEnded = false;

  constructor(
    readonly number: number,
    private readonly settings: StreamSettings,
  ) {}

  /** Whether nothing more will be sent. */
  get isOver(): boolean {
    return this.hasEnded;
  }

  /** Whether a client is connected. */
  get isRead(): boolean {
    return this.reader !== undefined;
  }

  /** Whether a message would be written right away. */
  get isReady(): boolean {
    return this.reader !== undefined && !this.reader.isFull && this.written === this.stored;
  }

  /**
   * Writes to a response from now on, and no longer to an earlier one.
   * @param after the event that the client has; undefined: a new stream
   */
  open(response: ServerResponse, after?: number): void {
    const { headers, keepAliveMs, isPrimed } = this.settings;
    // The client knows better whether the connection is still good.
    this.reader?.end();
    const reader = new EventStream(response, headers, keepAliveMs);
    this.reader = reader;
    if (after !== undefined) this.written = Math.min(after, this.stored);
    else if (isPrimed()) reader.prime(this.idOf(0));
    response.on('drain', () => this.catchUp());
    response.once('close', () => {
      if (this.reader === reader) this.reader = undefined;
    });
    this.catchUp();
  }

  send(json: string): void {
    if (this.hasEnded) return;
    const { store, session, report } = this.settings;
    const isReady = this.isReady && !this.isCatchingUp;
    this.stored += 1;
    store.append(session, { stream: this.number, sequence: this.stored, json }).catch(report);
    if (isReady) this.write(json, this.stored);
  }

  /** The same: what a client does not read is stored within bounds. */
  tell(json: string): void {
    this.send(json);
  }

  /** Ends the connection, not the stream: the client is to come back after so many milliseconds. */
  pause(retryMs: number): void {
    this.reader?.pause(retryMs);
    this.reader = undefined;
  }

  end(): void {
    this.hasEnded = true;
    this.catchUp();
  }

  /** Ends the connection, whatever is left to be read. */
  close(): void {
    this.hasEnded = true;
    this.reader?.end();
  }

  /** Writes what the reader has missed, and ends with it. */
  private catchUp(): void {
    if (this.isCatchingUp) return;
    if (this.written === this.stored) {
      if (this.hasEnded) this.reader?.end();
      return;
    }
    if (!this.reader || this.reader.isFull) return;
    this.isCatchingUp = true;
    this.writeMissed()
      .catch((error: Error) => {
        this.settings.report(error);
        this.reader?.end();
        this.reader = undefined;
      })
      .finally(() => {
        this.isCatchingUp = false;
        this.catchUp();
      });
  }

  private async writeMissed(): Promise<void> {
    const { store, session } = this.settings;
    while (this.reader && !this.reader.isFull && this.written < this.stored) {
      const { reader } = this;
      const upTo = this.stored;
      const events = await store.after(session, this.number, this.written);
      // Another connection may have taken over, and have other events.
      if (reader !== this.reader) continue;
      for (const { json, sequence } of events) {
        if (reader.isFull) return;
        this.write(json, sequence);
      }
      // What the store has forgotten is lost.
      this.written = Math.max(this.written, upTo);
    }
  }

  private write(json: string, sequence: number): void {
    this.reader?.send(json, this.idOf(sequence));
    this.written = sequence;
  }

  private idOf(sequence: number): string {
    return `${this.number}-${sequence}`;
  }
}
