import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { SharedChannel } from '../../protocol/mcp-call.js';
import type { ConnectionServer } from '../../server/connection-server.js';
import { isRecord } from '../../util/is-record.js';
import { jsonIn } from '../../util/json-in.js';
import { OtherNodes } from './other-nodes.js';
import type { PeerMessage, Peers } from './peers.js';
import { changesAfter, type HeardChange, type RecentChanges } from './recent-changes.js';
import type { SharedState } from './session-record.js';
import type { StreamSettings } from './session-stream.js';
import { SharedStreams } from './shared-streams.js';

/** The store keeps no change of a list for a client without a GET stream. The client gets it with its next stream. */
const LIST_CHANGED = /^notifications\/\w+\/list_changed$/;

/** How often a node tries to replace a text while other nodes replace other texts. */
const MAX_TRIES = 5;

/** The part of a session that knows other nodes. */
export class SharedSession implements SharedChannel {
  readonly streams: SharedStreams;
  readonly others: OtherNodes;
  readonly subscribed: ReadonlySet<string>;
  isOver = false;

  /** @param listenedUntil when the client stopped to listen, in milliseconds since 1970 */
  constructor(
    readonly peers: Peers,
    private readonly changes: RecentChanges,
    private readonly listenedUntil: number,
    settings: StreamSettings,
    private readonly server: ConnectionServer,
  ) {
    this.streams = new SharedStreams(settings, peers, listenedUntil);
    this.others = new OtherNodes(peers);
    this.subscribed = server.subscribed;
    server.share = change => peers.share(change);
    server.sharedChannel = this;
  }

  get isHome(): boolean {
    return this.peers.isHome;
  }

  async read(name: string): Promise<string | undefined> {
    return textsIn(await this.peers.readChannel())[name];
  }

  async replace(name: string, expected: string | undefined, text: string | undefined): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await this.peers.readChannel();
      // The session has ended, or a node of another version has opened it.
      if (before === undefined) return true;
      const texts = textsIn(before);
      if (texts[name] !== expected) return false;
      if (await this.peers.writeChannel(JSON.stringify({ ...texts, [name]: text }), before)) return true;
    }
    return false;
  }

  /** Whether this node sends a change that all nodes hear of. */
  sendsChange(message: JSONRPCMessage): boolean {
    const isList = 'method' in message && LIST_CHANGED.test(message.method);
    return this.peers.isHome && (!isList || this.streams.isListening);
  }

  /**
   * Adopts the home of the record. A failover may have lost the latest record, so that it names an earlier home, where
   * the client does not listen.
   */
  adopt({ home, listenedUntil }: SharedState): void {
    const { peers, streams } = this;
    peers.moved(home);
    if (streams.isListening) void this.takeHome();
    else if (peers.isHome && listenedUntil === undefined) {
      void peers.tell({ kind: 'moved', to: home, listens: false });
    }
  }

  /** Notes that another node is the home now. Messages may wait that this node has stored in the meantime. */
  moved({ to, listens }: Extract<PeerMessage, { kind: 'moved' }>): void {
    this.peers.moved(to);
    // That node took this one for dead.
    if (!listens && this.streams.isListening) void this.takeHome();
    else void this.peers.tellHome({ kind: 'waiting' });
  }

  async takeHome(): Promise<void> {
    const previous = await this.peers.takeHome(this.streams.isListening).catch(() => undefined);
    if (previous !== undefined) this.repeatChanges(this.listenedUntil);
  }

  /** Sends changes again that the client may have missed since then. The store drops those that it has. */
  repeatChanges(since = this.streams.takeListenedUntil()): void {
    if (since === undefined) return;
    for (const change of this.changes.since(since)) this.server.tell(change);
  }

  /** Sends changes of which this node has heard late. */
  catchUp(missed: readonly HeardChange[]): void {
    if (!this.peers.isHome) return;
    for (const change of changesAfter(missed, this.listenedUntil)) this.server.tell(change);
  }

  hear(message: PeerMessage): void {
    const { peers, streams, others } = this;
    switch (message.kind) {
      case 'left':
        if (streams.isListening) void this.takeHome();
        return;
      case 'waiting':
        // The home may have changed in the meantime.
        if (!peers.isHome) return void peers.tellHome(message);
        return streams.flush();
      case 'sought':
        if (streams.areListened) void peers.tell({ kind: 'attended' }, message.by);
        return;
      case 'confirmed':
        return others.confirmed(message.node, message.id);
      default:
        return streams.hear(message);
    }
  }
}

const textsIn = (json: string | undefined): Readonly<Record<string, string | undefined>> => {
  const texts = jsonIn(json);
  return isRecord(texts) ? (texts as Record<string, string>) : {};
};
