import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import { FollowedStreams } from './followed-streams.js';
import type { PeerMessage, Peers } from './peers.js';
import { Retries } from './retries.js';
import { SessionStream, type StreamLog, type StreamSettings } from './session-stream.js';

/** The most streams of a session that are kept although nobody reads them. */
const MAX_UNREAD_STREAMS = 100;

/** The kind of a stream, its node, its number there, and the event. */
const EVENT_ID = /^(([lc])([\da-f]{0,8})\.\d{1,9})-(\d{1,15})$/;

/** A stream for what belongs to no request, or one for the answers to a POST. */
type StreamKind = 'l' | 'c';

/** When a client comes back to another node, in milliseconds. */
const RETURN_MS = 100;

/**
 * The streams of a session: those of its calls, and those that its client opens for everything else. A client that comes back
 * to another node reads on there: the events are in the store.
 */
export class SessionStreams {
  /** The oldest first. */
  private readonly streams = new Map<string, SessionStream>();
  /** The names of those that a client has opened by GET. */
  private readonly opened = new Set<string>();
  /** Streams that were read on more than one node: each may take messages for them. */
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

  /** Whether a client is connected to any of them. */
  get areRead(): boolean {
    return [...this.streams.values()].some(({ isRead }) => isRead);
  }

  /** Whether something is not in the store yet that has to be. */
  get isUnsaved(): boolean {
    return this.retries.size > 0;
  }

  /** A stream for the answers to a POST. */
  openFor(response: ServerResponse, requests: readonly RequestId[]): SessionStream {
    const stream = this.create(this.newName('c'), true);
    const { peers } = this;
    if (peers) this.save(() => peers.begin(stream.name, requests));
    stream.open(response);
    return stream;
  }

  /**
   * Opens a stream for what belongs to no request, or goes on with an earlier stream.
   * @param lastEventId what the client has got last; an id that is unknown opens a new stream
   * @throws UnavailableException if the stream is another node's, and the store cannot be asked
   */
  async listen(response: ServerResponse, lastEventId: string | undefined): Promise<void> {
    const [, name, kind, node, sequence] = EVENT_ID.exec(lastEventId ?? '') ?? [];
    const isForeign = this.peers !== undefined && node !== undefined && node !== this.peers.node;
    const known = this.streams.get(name);
    const earlier = known ?? (isForeign ? await this.adopt(name, kind as StreamKind, node) : undefined);
    if (response.destroyed) return;
    const stream = earlier ?? this.create(this.newName('l'));
    stream.open(response, earlier && Number(sequence));
    if (earlier) this.peers?.tell({ kind: 'taken', stream: name });
    if (isForeign) this.moved.add(name);
    if (stream.name.startsWith('l')) this.opened.add(stream.name);
    this.flush();
  }

  /**
   * Sends what belongs to no request, on one stream.
   * @param key names the message if other nodes send it, too
   */
  send(json: string, key?: string): void {
    const { store, session } = this.settings;
    this.save(async () => {
      if (!(await store.offer(session, json, key))) return;
      if (this.openedStream()) this.flush();
      else this.peers?.tell({ kind: 'waiting' });
    });
  }

  /** Another node tells of a stream. */
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

  /** Catches up with streams of other nodes: messages of theirs may be lost. @throws UnavailableException */
  async follow(): Promise<void> {
    if (this.isUnsaved) {
      await this.retries.retry();
      this.flush();
    }
    await this.followed?.check();
  }

  /**
   * Ends the connections of a client that is to come back to another node, but for those of running calls.
   * @returns whether there were any
   */
  handOver(): boolean {
    const isListening = this.openedStream() !== undefined;
    for (const name of this.opened) this.streams.get(name)?.pause(RETURN_MS);
    this.opened.clear();
    return isListening;
  }

  /** Ends all connections. */
  close(): void {
    for (const stream of this.streams.values()) stream.close();
  }

  /** One that a client reads, and keeps up with if possible. */
  private openedStream(): SessionStream | undefined {
    let behind: SessionStream | undefined;
    for (const name of this.opened) {
      const stream = this.streams.get(name);
      if (stream?.isReady) return stream;
      if (stream?.isRead) behind ??= stream;
    }
    return behind;
  }

  /** Sends what waits. */
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
        // The client may have gone to another node meanwhile.
        if (events.length > 0 && !stream.isRead) this.tellOf(stream);
      })
      .catch((error: Error) => {
        report(error);
        // The store may have taken them nevertheless.
        stream.refresh();
      })
      .finally(() => {
        this.isFlushing = false;
        if (this.hasMore) this.flush();
      });
  }

  /** A stream that another node has begun. */
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

  /** @param isShown whether other nodes learn of it, because its calls run here */
  private create(name: string, isShown = false): SessionStream {
    this.forgetUnread();
    const stream = new SessionStream(name, this.settings, isShown ? this.logOf(name) : undefined);
    this.streams.set(name, stream);
    return stream;
  }

  private logOf(name: string): StreamLog | undefined {
    const { peers } = this;
    if (!peers) return undefined;
    const { store, session } = this.settings;
    return {
      append: event =>
        this.save(async () => {
          await store.append(session, event);
          const { sequence, json } = event;
          if (!this.streams.get(name)?.isRead) peers.tell({ kind: 'event', stream: name, sequence, json });
        }),
      end: () =>
        this.save(async () => {
          await peers.finish(name);
          peers.tell({ kind: 'over', stream: name });
        }),
    };
  }

  private tellOf({ name, latest }: SessionStream): void {
    this.peers?.tell({ kind: 'event', stream: name, sequence: latest });
  }

  /** Where other nodes rely on the store, what fails is done later. */
  private save(work: () => Promise<void>): void {
    const { report } = this.settings;
    if (this.peers) this.retries.run(work, report);
    else work().catch(report);
  }

  /** A stream that nobody reads is kept if it is to be answered on: its call is bounded elsewhere. */
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
