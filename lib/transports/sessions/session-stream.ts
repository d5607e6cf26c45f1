import type { ServerResponse } from 'node:http';
import type { EventStore, StoredEvent } from '../../stores/event-store.js';
import { EventStream } from '../http/event-stream.js';
import type { StreamWriter } from './stream-writer.js';

/** The settings that all streams of a session share. */
export interface StreamSettings {
  readonly session: string;
  /** The caller that the session counts for. */
  readonly caller: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly keepAliveMs: number;
  readonly store: EventStore;
  /** Whether the client accepts an event without a message (since 2025-11-25). */
  readonly isPrimed: () => boolean;
  readonly report: (error: Error) => unknown;
}

/** Maximum events that wait for the opening of a stream. Further ones are read from the store. */
const MAX_HELD = 100;

/**
 * A stream of a session that survives its connection: the client reconnects with the id of its last event. Every
 * message is stored before it is written. If the client is disconnected or reads too slowly, messages are only stored.
 */
export class SessionStream {
  /** The opening of a stream that other nodes do not know yet. */
  private opening?: Promise<void>;
  /** The events until then. */
  private readonly held: StoredEvent[] = [];
  private reader?: EventStream;
  /** The number of the last stored event that this node knows. */
  latest = 0;
  /** The number of the last event that the reader received. */
  private written = 0;
  /** Whether the store may have events that the reader has not received. */
  private isBehind = false;
  private isCatchingUp = false;
  isOver = false;

  /** @param writer stores the events of a stream that other nodes know */
  constructor(
    readonly name: string,
    private readonly settings: StreamSettings,
    private readonly writer?: StreamWriter,
  ) {}

  /** Whether a client is connected. */
  get isRead(): boolean {
    return this.reader !== undefined;
  }

  /** Whether a message would be written at once. */
  get isReady(): boolean {
    return this.reader !== undefined && !this.reader.isFull && !this.isBehind && !this.isCatchingUp;
  }

  /**
   * Starts to write to a response, and ends an earlier response.
   * @param after the last event that the client has; undefined for a new stream
   */
  open(response: ServerResponse, after?: number): void {
    this.attach(response, after);
    this.catchUp();
  }

  /** Opens a new stream when other nodes know it, or cannot know it because the store is not available. */
  openAfter(known: Promise<unknown>, response: ServerResponse): void {
    const open = () => {
      const held = this.held.splice(0);
      this.opening = undefined;
      if (!response.destroyed) this.attach(response);
      for (const event of held) this.accept(event);
      this.catchUp();
    };
    this.opening = known.then(open, open);
  }

  send(json: string): void {
    if (this.isOver) return;
    const { store, session, caller, report } = this.settings;
    const event = { stream: this.name, sequence: this.latest + 1, json };
    if (this.writer) this.writer.append(event);
    else store.append(session, { stream: this.name, events: [event] }, caller).catch(report);
    this.accept(event);
  }

  /** Notifications are stored like other messages, within the bounds of the store. */
  tell(json: string): void {
    this.send(json);
  }

  /** Sends an event that is already stored. */
  accept(event: StoredEvent): void {
    const { sequence, json } = event;
    this.latest = Math.max(this.latest, sequence);
    if (this.opening && this.held.length < MAX_HELD) this.held.push(event);
    else if (this.isReady) this.write(json, sequence);
    else this.isBehind = true;
  }

  /** Called when the store may have newer events. `upTo` is the number of the newest event, if it is known. */
  refresh(upTo?: number): void {
    if (upTo !== undefined && upTo <= this.written) return;
    this.latest = Math.max(this.latest, upTo ?? 0);
    this.isBehind = true;
    this.catchUp();
  }

  /** Ends the connection, but not the stream. The client should reconnect after `retryMs` milliseconds. */
  pause(retryMs: number): void {
    if (this.opening) return void this.opening.then(() => this.pause(retryMs));
    this.reader?.pause(retryMs);
    this.reader = undefined;
  }

  /** Ends the connection, if the client has one here. */
  release(): void {
    this.reader?.end();
    this.reader = undefined;
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.writer?.end();
    this.catchUp();
  }

  /** Ends the connection, even if events are unread. */
  close(): void {
    this.isOver = true;
    if (this.opening) return void this.opening.then(() => this.close());
    this.release();
  }

  private attach(response: ServerResponse, after?: number): void {
    const { headers, keepAliveMs, isPrimed } = this.settings;
    // Only the client knows whether the earlier connection is still usable.
    this.reader?.end();
    const reader = new EventStream(response, headers, keepAliveMs);
    this.reader = reader;
    if (after !== undefined) {
      this.written = after;
      this.latest = Math.max(this.latest, after);
      this.isBehind = true;
    } else if (isPrimed()) reader.prime(this.idOf(0));
    response.on('drain', () => this.catchUp());
    response.once('close', () => {
      if (this.reader === reader) this.reader = undefined;
    });
  }

  /** Writes the missed events. At the end of the stream, it ends the connection. */
  private catchUp(): void {
    if (this.isCatchingUp) return;
    if (!this.isBehind) {
      if (this.isOver) this.release();
      return;
    }
    if (!this.reader || this.reader.isFull) return;
    this.isCatchingUp = true;
    this.writeMissed()
      .catch((error: Error) => {
        this.settings.report(error);
        // The client reconnects, when the store may work again.
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
      // New events set the flag again while this runs.
      this.isBehind = false;
      const events = await store.after(session, this.name, this.written).catch((error: unknown) => {
        this.isBehind = true;
        throw error;
      });
      for (const { json, sequence } of events) {
        // A new connection may have replaced the reader, and may have other events.
        if (reader !== this.reader || reader.isFull) this.isBehind = true;
        else this.write(json, sequence);
      }
    }
  }

  private write(json: string, sequence: number): void {
    this.reader?.send(json, this.idOf(sequence));
    this.written = sequence;
    this.latest = Math.max(this.latest, sequence);
  }

  private idOf(sequence: number): string {
    return `${this.name}-${sequence}`;
  }
}
