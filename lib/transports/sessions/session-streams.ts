import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import { FollowedStreams } from './followed-streams.js';
import type { PeerMessage, Peers } from './peers.js';
import { Retries } from './retries.js';
import { SessionStream, type StreamLog, type StreamSettings } from './session-stream.js';

/** Maximum kept streams of a session that no client reads. */
const MAX_UNREAD_STREAMS = 100;

/** The kind of a stream, its node, its number on the node, and the event number. */
const EVENT_ID = /^(([lc])([\da-f]{0,8})\.\d{1,9})-(\d{1,15})$/;

/** `l` for a stream of messages that belong to no request, `c` for a stream of answers to a POST. */
type StreamKind = 'l' | 'c';

/** Delay before a client reconnects to another node, in milliseconds. */
const RETURN_MS = 100;

/**
 * The streams of a session: streams of its calls, and streams that its client opens for other messages. A client that
 * reconnects to another node continues there, because the store holds the events.
 */
export class SessionStreams {
  /** Sorted by age, oldest first. */
  private readonly streams = new Map<string, SessionStream>();
  /** The names of the streams that a client has opened by GET. */
  private readonly opened = new Set<string>();
  private readonly listening = new Set<ServerResponse>();
  /** Streams that were read on several nodes. Each of these nodes may take messages for them. */
  private readonly moved = new Set<string>();
  private readonly followed?: FollowedStreams;
  private readonly retries = new Retries();
  private count = 0;
  private isFlushing = false;
  private hasMore = false;

  /** @param peers the other nodes, if they share the session */
  constructor(
    private readonly settings: StreamSettings,
    private readonly peers?: Peers,
  ) {
    if (peers) this.followed = new FollowedStreams(settings, peers);
  }

  get areRead(): boolean {
    return [...this.streams.values()].some(({ isRead }) => isRead);
  }

  /** Whether a client has opened a stream by GET, for a new stream or an earlier one. */
  get areListened(): boolean {
    return this.listening.size > 0;
  }

  /** Whether a required write to the store is still pending. */
  get isUnsaved(): boolean {
    return this.retries.size > 0;
  }

  /** Opens a stream for the answers to a POST. */
  openFor(response: ServerResponse, requests: readonly RequestId[]): SessionStream {
    const stream = this.create(this.newName('c'), true);
    const { peers } = this;
    if (!peers) {
      stream.open(response);
      return stream;
    }
    // With its first event id, the client may go to another node, which then has to know the stream.
    const begin = () => peers.begin(stream.name, requests);
    const begun = begin();
    stream.openAfter(begun, response);
    let first: Promise<void> | undefined = begun;
    this.save(() => {
      const attempt = first ?? begin();
      first = undefined;
      return attempt;
    });
    return stream;
  }

  /**
   * Opens a stream for messages that belong to no request, or continues an earlier stream.
   * @param lastEventId the last event that the client received; an unknown id opens a new stream
   * @throws UnavailableException if the stream belongs to another node, and the store is not available
   */
  async listen(response: ServerResponse, lastEventId: string | undefined): Promise<void> {
    const [, name, kind, node, sequence] = EVENT_ID.exec(lastEventId ?? '') ?? [];
    const isForeign = this.peers !== undefined && node !== undefined && node !== this.peers.node;
    const known = this.streams.get(name);
    const earlier = known ?? (isForeign ? await this.adopt(name, kind as StreamKind, node) : undefined);
    if (response.destroyed) return;
    this.listening.add(response);
    response.once('close', () => this.listening.delete(response));
    const stream = earlier ?? this.create(this.newName('l'));
    stream.open(response, earlier && Number(sequence));
    if (earlier) void this.peers?.tell({ kind: 'taken', stream: name });
    if (isForeign) this.moved.add(name);
    if (stream.name.startsWith('l')) this.opened.add(stream.name);
    this.flush();
  }

  /**
   * Sends a message that belongs to no request, on one stream.
   * @param key identifies the message if other nodes send it, too
   */
  send(json: string, key?: string): void {
    const { store, session, caller } = this.settings;
    this.save(async () => {
      if (!(await store.offer(session, json, key, caller))) return;
      if (this.openedStream()) this.flush();
      else void this.peers?.tell({ kind: 'waiting' });
    });
  }

  hear(message: PeerMessage): void {
    if (message.kind === 'waiting') return this.flush();
    if (message.kind !== 'event' && message.kind !== 'taken' && message.kind !== 'over') return;
    const { kind, stream: name } = message;
    const stream = this.streams.get(name);
    if (!stream) return;
    if (kind === 'taken') {
      stream.release();
      this.opened.delete(name);
      this.moved.add(name);
      this.tellOf(stream);
    } else this.followed?.hear(stream, message);
  }

  /** Catches up with streams of other nodes, whose messages may be lost. @throws UnavailableException */
  async follow(): Promise<void> {
    if (this.isUnsaved) {
      await this.retries.retry();
      this.flush();
    }
    await this.followed?.check();
  }

  /**
   * Ends the listening connections of a client, so that it reconnects to another node. Streams of running calls stay
   * open.
   * @returns whether there were any
   */
  handOver(): boolean {
    const isListening = this.openedStream() !== undefined;
    for (const name of this.opened) this.streams.get(name)?.pause(RETURN_MS);
    this.opened.clear();
    return isListening;
  }

  close(): void {
    for (const stream of this.streams.values()) stream.close();
  }

  /** A stream that a client reads. Streams with which the client keeps up come first. */
  private openedStream(): SessionStream | undefined {
    let behind: SessionStream | undefined;
    for (const name of this.opened) {
      const stream = this.streams.get(name);
      if (stream?.isReady) return stream;
      if (stream?.isRead) behind ??= stream;
    }
    return behind;
  }

  flush(): void {
    const stream = this.openedStream();
    if (!stream) return;
    this.hasMore = this.isFlushing;
    if (this.isFlushing) return;
    this.isFlushing = true;
    const { store, session, report } = this.settings;
    store
      .take(session, stream.name)
      .then(events => {
        if (this.moved.has(stream.name)) stream.refresh(events.at(-1)?.sequence);
        else for (const event of events) stream.accept(event);
        // The client may have reconnected to another node in the meantime.
        if (events.length > 0 && !stream.isRead) this.tellOf(stream);
      })
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

  /** Continues a stream of another node. */
  private async adopt(name: string, kind: StreamKind, node: string): Promise<SessionStream> {
    if (kind === 'l') return this.create(name);
    const requests = await this.peers!.requestsOf(name);
    const stream = this.streams.get(name) ?? this.create(name);
    if (requests) this.followed!.add(stream, node, requests);
    else stream.end();
    return stream;
  }

  private newName(kind: StreamKind): string {
    const { peers } = this;
    return peers ? `${kind}${peers.node}.${peers.nextStream()}` : `${kind}.${(this.count += 1)}`;
  }

  /** @param isShown whether other nodes see the stream, because its calls run here */
  private create(name: string, isShown = false): SessionStream {
    this.forgetUnread();
    const stream = new SessionStream(name, this.settings, isShown ? this.logOf(name) : undefined);
    this.streams.set(name, stream);
    return stream;
  }

  private logOf(name: string): StreamLog | undefined {
    const { peers } = this;
    if (!peers) return undefined;
    const { store, session, caller } = this.settings;
    return {
      append: event =>
        this.save(async () => {
          await store.append(session, event, caller);
          const { sequence, json } = event;
          if (!this.streams.get(name)?.isRead)
            void peers.tell({ kind: 'event', stream: name, sequence, json });
        }),
      end: () =>
        this.save(async () => {
          await peers.finish(name);
          void peers.tell({ kind: 'over', stream: name });
        }),
    };
  }

  private tellOf({ name, latest }: SessionStream): void {
    void this.peers?.tell({ kind: 'event', stream: name, sequence: latest });
  }

  /** Runs a write to the store. If other nodes rely on the store, a failed write is repeated later. */
  private save(work: () => Promise<void>): void {
    const { report } = this.settings;
    if (this.peers) this.retries.run(work, report);
    else work().catch(report);
  }

  /**
   * Drops the oldest unread streams past the bound. Streams with open requests are kept, because other limits bound
   * their calls.
   */
  private forgetUnread(): void {
    const unread = [...this.streams.values()].filter(
      ({ isRead, isOver, name }) => !isRead && (isOver || name.startsWith('l') || this.followed?.has(name)),
    );
    for (const { name } of unread.slice(0, Math.max(0, unread.length - MAX_UNREAD_STREAMS + 1))) {
      this.streams.delete(name);
      this.opened.delete(name);
      this.moved.delete(name);
      this.followed?.delete(name);
    }
  }
}
