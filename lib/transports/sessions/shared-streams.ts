import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import type { OfferedMessage, StoredEvent, StreamWrite } from '../../stores/event-store.js';
import { FollowedStreams } from './followed-streams.js';
import type { PeerMessage, Peers } from './peers.js';
import type { SessionStream, StreamSettings } from './session-stream.js';
import { SessionStreams } from './session-streams.js';
import { StreamWriter } from './stream-writer.js';

/**
 * The streams of a session that nodes share. A client that reconnects to another node continues there, because the
 * store holds the events. The home of the session sends the messages that belong to no call.
 */
export class SharedStreams extends SessionStreams {
  /** Streams that were read on several nodes. Each of these nodes may take messages for them. */
  private readonly moved = new Set<string>();
  private readonly followed: FollowedStreams;
  /** The nodes where clients read the streams of calls that run here. */
  private readonly followers = new Map<string, string>();
  /** What the store does not have yet of the streams of calls. */
  private readonly writers = new Set<StreamWriter>();
  /** The home before this node, where the client may still listen. */
  private previousHome?: string;

  /** @param listenedUntil when the client stopped to listen, in milliseconds since 1970; undefined while it listens */
  constructor(
    settings: StreamSettings,
    private readonly peers: Peers,
    private listenedUntil: number | undefined,
  ) {
    super(settings);
    this.followed = new FollowedStreams(settings, peers);
  }

  override get isUnsaved(): boolean {
    return super.isUnsaved || this.writers.size > 0;
  }

  override openFor(response: ServerResponse, requests: readonly RequestId[]): SessionStream {
    const name = this.newName('c');
    const writer = this.writerOf(name, requests);
    const stream = this.create(name, writer);
    // With its first event id, the client may go to another node, which then has to know the stream.
    stream.openAfter(writer.begun, response);
    return stream;
  }

  override async listen(response: ServerResponse, lastEventId: string | undefined): Promise<void> {
    const id = this.eventIdIn(lastEventId);
    const { name, kind, node } = id;
    const previous = kind === 'c' ? undefined : await this.peers.takeHome(true);
    const isKept = name !== undefined && node !== '';
    const earlier = isKept ? (this.streams.get(name) ?? (await this.adopt(name, node!))) : undefined;
    if (response.destroyed) return;
    const stream = this.attach(response, earlier, id);
    if (earlier) this.tellTaken(stream, node!, previous);
    if (!stream.name.startsWith('l')) return;
    this.previousHome = previous ?? this.previousHome;
    response.once('close', () => this.closed());
  }

  /** Since when the client has not listened, if it has just begun. Changes since then may be missing. */
  takeListenedUntil(): number | undefined {
    const { listenedUntil } = this;
    if (this.isListening) this.listenedUntil = undefined;
    return listenedUntil;
  }

  /** Asks the nodes where the client may have a GET stream. */
  seek(): void {
    const message = { kind: 'sought', by: this.peers.node } as const;
    void this.peers.tellHome(message);
    for (const node of this.followers.values()) void this.peers.tell(message, node);
  }

  hear(message: PeerMessage): void {
    if (message.kind !== 'event' && message.kind !== 'taken' && message.kind !== 'over') return;
    const stream = this.streams.get(message.stream);
    if (!stream) return;
    if (message.kind === 'taken') this.leave(stream, message.by);
    else this.followed.hear(stream, message);
  }

  /** Catches up with streams of other nodes, whose messages may be lost. @throws UnavailableException */
  async catchUp(): Promise<void> {
    for (const writer of this.writers) writer.retry();
    if (this.outbox.length > 0) await this.post();
    await this.followed.check();
  }

  override handOver(): boolean {
    if (this.isListening) this.listenedUntil ??= Date.now();
    return super.handOver();
  }

  protected override get node(): string {
    return this.peers.node;
  }

  protected override get keepsOutbox(): boolean {
    return true;
  }

  protected override nextNumber(): number {
    return this.peers.nextNumber();
  }

  protected override deliver(
    stream: SessionStream,
    events: readonly StoredEvent[],
    count = events.length,
  ): void {
    if (events.length < count) {
      // Another node has stored the others. It may not know that the client listens here.
      this.flush();
      stream.refresh();
    }
    if (events.length === 0) return;
    if (this.moved.has(stream.name)) stream.refresh(events.at(-1)?.sequence);
    else super.deliver(stream, events);
    // The client may have reconnected to another node in the meantime.
    if (!stream.isRead) {
      void this.peers.tellHome({ kind: 'event', stream: stream.name, sequence: stream.latest });
    }
  }

  protected override async store(messages: readonly OfferedMessage[]): Promise<void> {
    const { peers } = this;
    if (peers.isHome) await super.store(messages);
    else {
      const { store, session, caller } = this.settings;
      await store.offer(session, messages, caller);
    }
    // The home may have changed in the meantime.
    if (!peers.isHome) void peers.tellHome({ kind: 'waiting' });
  }

  protected override isDroppable(stream: SessionStream): boolean {
    return super.isDroppable(stream) || this.followed.has(stream.name);
  }

  protected override forget(name: string): void {
    super.forget(name);
    this.moved.delete(name);
    this.followed.delete(name);
  }

  /** Continues a stream of another node, or one that this node has forgotten. */
  private async adopt(name: string, node: string): Promise<SessionStream> {
    if (name.startsWith('l')) {
      this.moved.add(name);
      return this.create(name);
    }
    const { store, session } = this.settings;
    const requests = (await store.openStreams(session)).get(name);
    const stream = this.streams.get(name) ?? this.create(name);
    if (requests && node !== this.node) this.followed.add(stream, node, requests);
    else stream.end();
    return stream;
  }

  /** Tells the nodes where the client has read a stream. */
  private tellTaken({ name }: SessionStream, node: string, previousHome: string | undefined): void {
    const { node: by } = this;
    const others = new Set([node, previousHome, this.followers.get(name)]);
    this.followers.delete(name);
    for (const other of others) {
      if (other !== undefined && other !== '' && other !== by) {
        void this.peers.tell({ kind: 'taken', stream: name, by }, other);
      }
    }
  }

  /** Ends the connection of a stream that the client reads on another node now. */
  private leave(stream: SessionStream, by: string): void {
    const { name } = stream;
    stream.release();
    this.opened.delete(name);
    this.moved.add(name);
    const earlier = this.followers.get(name);
    this.followers.set(name, by);
    // An earlier reader learns it from here.
    if (earlier !== undefined && earlier !== by)
      void this.peers.tell({ kind: 'taken', stream: name, by }, earlier);
    void this.peers.tell({ kind: 'event', stream: name, sequence: stream.latest }, by);
  }

  /** The client has closed a stream for messages. */
  private closed(): void {
    if (this.isListening) return;
    this.listenedUntil ??= Date.now();
    const { peers, listenedUntil, previousHome, settings } = this;
    if (!peers.isHome) return;
    peers.noteListened(listenedUntil).catch(settings.report);
    // The client may still listen there.
    this.previousHome = undefined;
    if (previousHome !== undefined) void peers.tell({ kind: 'left' }, previousHome);
  }

  private writerOf(name: string, requests: readonly RequestId[]): StreamWriter {
    const { store, session, caller, report } = this.settings;
    const writer = new StreamWriter({
      stream: name,
      requests,
      write: write => store.append(session, write, caller),
      onWritten: write => {
        if (writer.isOver) this.writers.delete(writer);
        this.tellFollower(write);
      },
      report,
    });
    this.writers.add(writer);
    return writer;
  }

  private tellFollower({ stream, events, isOver }: StreamWrite): void {
    const follower = this.followers.get(stream);
    if (follower === undefined) return;
    const last = events.at(-1);
    if (last) {
      const json = events.length === 1 ? last.json : undefined;
      void this.peers.tell({ kind: 'event', stream, sequence: last.sequence, json }, follower);
    }
    if (isOver === true) {
      this.followers.delete(stream);
      void this.peers.tell({ kind: 'over', stream }, follower);
    }
  }
}
