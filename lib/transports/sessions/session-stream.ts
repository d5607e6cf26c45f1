import type { ServerResponse } from 'node:http';
import type { EventStore, StoredEvent } from '../../protocol/event-store.js';
import { EventStream } from '../http/event-stream.js';

/** What the streams of a session have in common. */
export interface StreamSettings {
  readonly session: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly keepAliveMs: number;
  readonly store: EventStore;
  /** Whether the client understands an event without a message (since 2025-11-25). */
  readonly isPrimed: () => boolean;
  readonly report: (error: Error) => unknown;
}

/** Keeps what a stream sends where other nodes find it. */
export interface StreamLog {
  append(event: StoredEvent): void;
  /** The stream has all its messages. */
  end(): void;
}

/**
 * A stream of a session that outlives its connection: the client comes back with the id of the last event that it has. All
 * messages are stored before they are written; while nobody reads, or reads too slowly, they are stored only.
 */
export class SessionStream {
  private reader?: EventStream;
  /** The event that was stored last, as far as this node knows. */
  private stored = 0;
  /** The event that the reader got last. */
  private written = 0;
  /** Whether the store may have events that the reader has not got. */
  private isBehind = false;
  private isCatchingUp = false;
  private hasEnded = false;

  /** @param log instead of the store, for a stream that other nodes know */
  constructor(
    readonly name: string,
    private readonly settings: StreamSettings,
    private readonly log?: StreamLog,
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
    return this.reader !== undefined && !this.reader.isFull && !this.isBehind && !this.isCatchingUp;
  }

  /** The number of the latest event. */
  get latest(): number {
    return this.stored;
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
    if (after !== undefined) {
      this.written = after;
      this.isBehind = true;
    } else if (isPrimed()) reader.prime(this.idOf(0));
    response.on('drain', () => this.catchUp());
    response.once('close', () => {
      if (this.reader === reader) this.reader = undefined;
    });
    this.catchUp();
  }

  send(json: string): void {
    if (this.hasEnded) return;
    const { store, session, report } = this.settings;
    const event = { stream: this.name, sequence: this.stored + 1, json };
    if (this.log) this.log.append(event);
    else store.append(session, event).catch(report);
    this.accept(event);
  }

  /** The same: what a client does not read is stored within bounds. */
  tell(json: string): void {
    this.send(json);
  }

  /** Sends an event that is stored already. */
  accept({ sequence, json }: StoredEvent): void {
    this.stored = Math.max(this.stored, sequence);
    if (this.isReady) this.write(json, sequence);
    else this.isBehind = true;
  }

  /** The store may have more than this node knows, up to an event if that is known. */
  refresh(upTo?: number): void {
    if (upTo !== undefined && upTo <= this.written) return;
    this.stored = Math.max(this.stored, upTo ?? 0);
    this.isBehind = true;
    this.catchUp();
  }

  /** Ends the connection, not the stream: the client is to come back after so many milliseconds. */
  pause(retryMs: number): void {
    this.reader?.pause(retryMs);
    this.reader = undefined;
  }

  /** Ends the connection: the client is back elsewhere. */
  release(): void {
    this.reader?.end();
    this.reader = undefined;
  }

  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.log?.end();
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
    if (!this.isBehind) {
      if (this.hasEnded) this.reader?.end();
      return;
    }
    if (!this.reader || this.reader.isFull) return;
    this.isCatchingUp = true;
    this.writeMissed()
      .catch((error: Error) => {
        this.settings.report(error);
        // The client comes back, and may find the store well.
        this.release();
      })
      .finally(() => {
        this.isCatchingUp = false;
        this.catchUp();
      });
  }

  private async writeMissed(): Promise<void> {
    const { store, session } = this.settings;
    while (this.reader && !this.reader.isFull && this.isBehind) {
      const { reader } = this;
      // What comes meanwhile sets it again.
      this.isBehind = false;
      const events = await store.after(session, this.name, this.written).catch((error: unknown) => {
        this.isBehind = true;
        throw error;
      });
      for (const { json, sequence } of events) {
        // Another connection may have taken over, and have other events.
        if (reader !== this.reader || reader.isFull) this.isBehind = true;
        else this.write(json, sequence);
      }
    }
  }

  private write(json: string, sequence: number): void {
    this.reader?.send(json, this.idOf(sequence));
    this.written = sequence;
    this.stored = Math.max(this.stored, sequence);
  }

  private idOf(sequence: number): string {
    return `${this.name}-${sequence}`;
  }
}
