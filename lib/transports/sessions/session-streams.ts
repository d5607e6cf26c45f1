import type { ServerResponse } from 'node:http';
import { SessionStream, type StreamSettings } from './session-stream.js';

/** The most streams of a session that are kept although nobody reads them. */
const MAX_UNREAD_STREAMS = 100;

/** When a client is to come back to a stream that it has to open again, in milliseconds. */
const RECONNECT_MS = 100;

/** What waits for a stream to be sent on is stored as if it were a stream. */
const WAITING = 0;

const EVENT_ID = /^(\d{1,9})-(\d{1,9})$/;

/** The streams of a session: those of its calls, and those that its client opens for everything else. */
export class SessionStreams {
  /** The oldest first. */
  private readonly streams = new Map<number, SessionStream>();
  /** The numbers of those that a client has opened by GET. */
  private readonly opened = new Set<number>();
  private count = 0;
  /** The message that was stored last because no stream could take it, and the one that a stream has taken last. */
  private stored = 0;
  private taken = 0;
  private isFlushing = false;

  constructor(private readonly settings: StreamSettings) {}

  /** Whether a client is connected to any of them. */
  get areRead(): boolean {
    return [...this.streams.values()].some(({ isRead }) => isRead);
  }

  /** A stream for the answers to a POST. */
  openFor(response: ServerResponse): SessionStream {
    const stream = this.create();
    stream.open(response);
    return stream;
  }

  /**
   * Opens a stream for what belongs to no request, or goes on with an earlier stream.
   * @param lastEventId what the client has got last; an id that is unknown opens a new stream
   */
  listen(response: ServerResponse, lastEventId: string | undefined): void {
    const [, number, sequence] = EVENT_ID.exec(lastEventId ?? '') ?? [];
    const earlier = number === undefined ? undefined : this.streams.get(Number(number));
    const stream = earlier ?? this.create();
    stream.open(response, earlier && Number(sequence));
    if (!earlier) this.opened.add(stream.number);
    if (this.opened.has(stream.number)) this.flush();
  }

  /** Sends what belongs to no request, on one stream. */
  send(json: string): void {
    const stream = this.isFlushing ? undefined : this.openedStream();
    if (stream) return stream.send(json);
    const { store, session, report } = this.settings;
    this.stored += 1;
    store.append(session, { stream: WAITING, sequence: this.stored, json }).catch(report);
  }

  /** One that a client reads, and keeps up with if possible. */
  private openedStream(): SessionStream | undefined {
    let behind: SessionStream | undefined;
    for (const number of this.opened) {
      const stream = this.streams.get(number);
      if (stream?.isReady) return stream;
      if (stream?.isRead) behind ??= stream;
    }
    return behind;
  }

  /** Sends what has waited. */
  private flush(): void {
    const stream = this.openedStream();
    if (this.isFlushing || !stream || this.taken === this.stored) return;
    this.isFlushing = true;
    this.sendWaiting(stream)
      .catch((error: Error) => {
        this.taken = this.stored;
        this.settings.report(error);
      })
      .finally(() => {
        this.isFlushing = false;
        this.flush();
      });
  }

  private async sendWaiting(stream: SessionStream): Promise<void> {
    const { store, session } = this.settings;
    while (stream.isRead && this.taken < this.stored) {
      const upTo = this.stored;
      const events = await store.after(session, WAITING, this.taken);
      for (const { json } of events) stream.send(json);
      this.taken = Math.max(upTo, events.at(-1)?.sequence ?? 0);
    }
  }

  /** Ends the connections that a client has opened by GET: it is to open them again, as whoever it is by now. */
  disconnect(): void {
    for (const number of this.opened) this.streams.get(number)?.pause(RECONNECT_MS);
  }

  /** Ends all connections, and forgets what was sent. */
  close(): void {
    for (const stream of this.streams.values()) stream.close();
    const { store, session, report } = this.settings;
    store.delete(session).catch(report);
  }

  private create(): SessionStream {
    this.forgetUnread();
    const stream = new SessionStream((this.count += 1), this.settings);
    this.streams.set(stream.number, stream);
    return stream;
  }

  /** A stream that nobody reads is kept if it is to be answered on: its call is bounded elsewhere. */
  private forgetUnread(): void {
    const unread = [...this.streams.values()].filter(
      ({ isRead, isOver, number }) => !isRead && (isOver || this.opened.has(number)),
    );
    for (const { number } of unread.slice(0, Math.max(0, unread.length - MAX_UNREAD_STREAMS + 1))) {
      this.streams.delete(number);
      this.opened.delete(number);
    }
  }
}
