import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import type { OfferedMessage, StoredEvent } from '../../stores/event-store.js';
import { SessionStream, type StreamSettings } from './session-stream.js';
import type { StreamWriter } from './stream-writer.js';

/** Maximum kept streams of a session that no client reads. */
const MAX_UNREAD_STREAMS = 100;

/** Maximum messages that wait for the store, and that it gets at once. */
const MAX_OUTBOX = 1000;
const MAX_BATCH = 100;

/** The kind of a stream, its node, its number on the node, and the event number. */
const EVENT_ID = /^(([lc])([\da-f]{0,8})\.\d{1,9})-(\d{1,16})$/;

/** `l` for a stream of messages that belong to no request, `c` for a stream of answers to a POST. */
export type StreamKind = 'l' | 'c';

/** Delay before a client reconnects to another node, in milliseconds. */
const RETURN_MS = 100;

/** The parts of the id of an event, as a client sends it back. */
export interface EventId {
  readonly name?: string;
  readonly kind?: StreamKind;
  readonly node?: string;
  readonly sequence?: string;
}

/**
 * The streams of a session: streams of its calls, and streams that its client opens for other messages. See
 * `SharedStreams` for a session that nodes share.
 */
export class SessionStreams {
  /** Sorted by age, oldest first. */
  protected readonly streams = new Map<string, SessionStream>();
  /** The names of the streams that a client has opened by GET. */
  protected readonly opened = new Set<string>();
  /** Messages that belong to no call, until the store has them. */
  protected readonly outbox: OfferedMessage[] = [];
  private readonly listening = new Set<ServerResponse>();
  private isPosting = false;
  private isFlushing = false;
  private hasMore = false;
  private count = 0;

  constructor(protected readonly settings: StreamSettings) {}

  get areRead(): boolean {
    return [...this.streams.values()].some(({ isRead }) => isRead);
  }

  /** Whether a client has opened a stream by GET, for a new stream or an earlier one. */
  get areListened(): boolean {
    return this.listening.size > 0;
  }

  /** Whether a client listens, so that a message would be written. */
  get isListening(): boolean {
    return this.openedStream() !== undefined;
  }

  /** Whether a required write to the store is still pending. */
  get isUnsaved(): boolean {
    return this.outbox.length > 0;
  }

  /** Opens a stream for the answers to a POST. */
  openFor(response: ServerResponse, _requests: readonly RequestId[]): SessionStream {
    const stream = this.create(this.newName('c'));
    stream.open(response);
    return stream;
  }

  /**
   * Opens a stream for messages that belong to no request, or continues an earlier stream.
   * @param lastEventId the last event that the client received; an unknown id opens a new stream
   * @throws UnavailableException if the stream belongs to another node, and the store is not available
   */
  async listen(response: ServerResponse, lastEventId: string | undefined): Promise<void> {
    const id = this.eventIdIn(lastEventId);
    this.attach(response, this.streams.get(id.name ?? ''), id);
  }

  /**
   * Sends a message that belongs to no request, on one stream.
   * @param key identifies the message if other nodes send it, too
   */
  send(json: string, key = `${this.node}.${this.nextNumber()}`): void {
    if (this.outbox.length < MAX_OUTBOX) this.outbox.push({ json, key });
    void this.post();
  }

  /**
   * Ends the listening connections of a client, so that it reconnects to another node. Streams of running calls stay
   * open.
   * @returns whether there were any
   */
  handOver(): boolean {
    const { isListening } = this;
    for (const name of this.opened) this.streams.get(name)?.pause(RETURN_MS);
    this.opened.clear();
    return isListening;
  }

  close(): void {
    for (const stream of this.streams.values()) stream.close();
  }

  /** Writes waiting messages to the open stream. */
  flush(): void {
    const stream = this.openedStream();
    if (!stream) return;
    this.hasMore = this.isFlushing;
    if (this.isFlushing) return;
    this.isFlushing = true;
    const { store, session, report } = this.settings;
    store
      .take(session, stream.name)
      .then(events => this.deliver(stream, events))
      .catch((error: Error) => {
        report(error);
        // The store may have moved the messages despite the error.
        stream.refresh();
      })
      .finally(() => {
        this.isFlushing = false;
        if (this.hasMore) this.flush();
      });
  }

  /** The node's part of the names of streams. */
  protected get node(): string {
    return '';
  }

  /** Whether messages that fail to be stored are stored later. */
  protected get keepsOutbox(): boolean {
    return false;
  }

  protected nextNumber(): number {
    return (this.count += 1);
  }

  protected eventIdIn(lastEventId: string | undefined): EventId {
    const [, name, kind, node, sequence] = EVENT_ID.exec(lastEventId ?? '') ?? [];
    return { name, kind: kind as StreamKind, node, sequence };
  }

  /** @returns the stream that the client reads now */
  protected attach(
    response: ServerResponse,
    earlier: SessionStream | undefined,
    { sequence }: EventId,
  ): SessionStream {
    this.listening.add(response);
    response.once('close', () => this.listening.delete(response));
    const stream = earlier ?? this.create(this.newName('l'));
    stream.open(response, earlier && Number(sequence));
    if (stream.name.startsWith('l')) {
      this.opened.add(stream.name);
      this.flush();
    }
    return stream;
  }

  /** Writes events that the store has put on a stream, of so many messages. */
  protected deliver(stream: SessionStream, events: readonly StoredEvent[], _count?: number): void {
    for (const event of events) stream.accept(event);
  }

  /** Hands messages to the store: for the open stream, or to wait for one. */
  protected async store(messages: readonly OfferedMessage[], stream = this.openedStream()): Promise<void> {
    const { store, session, caller } = this.settings;
    if (!stream) {
      await store.offer(session, messages, caller);
      return this.flush();
    }
    try {
      this.deliver(stream, await store.push(session, stream.name, messages, caller), messages.length);
    } catch (error) {
      // The store may have kept the messages despite the error.
      stream.refresh();
      throw error;
    }
  }

  protected async post(): Promise<void> {
    if (this.isPosting) return;
    this.isPosting = true;
    while (this.outbox.length > 0) {
      const messages = this.outbox.slice(0, MAX_BATCH);
      try {
        await this.store(messages);
      } catch (error) {
        this.settings.report(error as Error);
        if (this.keepsOutbox) break;
      }
      this.outbox.splice(0, messages.length);
    }
    this.isPosting = false;
  }

  protected newName(kind: StreamKind): string {
    return `${kind}${this.node}.${this.nextNumber()}`;
  }

  /** @param writer stores the events instead of the stream itself */
  protected create(name: string, writer?: StreamWriter): SessionStream {
    this.forgetUnread();
    const stream = new SessionStream(name, this.settings, writer);
    this.streams.set(name, stream);
    return stream;
  }

  /** A stream that a client reads. Streams with which the client keeps up come first. */
  protected openedStream(): SessionStream | undefined {
    let behind: SessionStream | undefined;
    for (const name of this.opened) {
      const stream = this.streams.get(name);
      if (stream?.isReady) return stream;
      if (stream?.isRead) behind ??= stream;
    }
    return behind;
  }

  /** Whether an unread stream may be dropped. Streams with open requests are kept; other limits bound their calls. */
  protected isDroppable({ isOver, name }: SessionStream): boolean {
    return isOver || name.startsWith('l');
  }

  protected forget(name: string): void {
    this.streams.delete(name);
    this.opened.delete(name);
  }

  /** Drops the oldest unread streams past the bound. */
  private forgetUnread(): void {
    const unread = [...this.streams.values()].filter(stream => !stream.isRead && this.isDroppable(stream));
    for (const { name } of unread.slice(0, Math.max(0, unread.length - MAX_UNREAD_STREAMS + 1))) {
      this.forget(name);
    }
  }
}
