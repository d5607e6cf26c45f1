import type { RequestId } from '@modelcontextprotocol/server';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import type { EventStore, StoredEvent } from '../../stores/event-store.js';
import type { MessageBus } from '../../stores/message-bus.js';
import { NodeChannel } from '../../stores/node-channel.js';
import type { SessionFields, SessionStore } from '../../stores/session-store.js';
import { isRecord } from '../../util/is-record.js';
import { jsonIn } from '../../util/json-in.js';
import { messageOf } from '../../util/message-of.js';
import type { PeerMessage, Peers } from './peers.js';
import type { SessionOptions } from './session.js';
import { SharedSession } from './shared-session.js';
import { RecentChanges, type HeardChange } from './recent-changes.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import {
  fieldsOf,
  fieldsOfChange,
  LISTENS,
  stateIn,
  type SessionRecord,
  type SharedState,
} from './session-record.js';

/** Interval at which a node reports that it runs, and how long other nodes believe it, in milliseconds. */
const BEAT_MS = 2000;
const BELIEVED_MS = 6000;

/** Minimum time between two warnings about malformed events, in milliseconds. */
const WARN_AGAIN_MS = 60_000;

/** Maximum simultaneous writes of messages to the store, and simultaneous checks of sessions. */
const MAX_AT_ONCE = 32;

/** How often a node tries to become the home of a session, while other nodes try as well. */
const MAX_TRIES = 5;

/** How long sessions are served while the store is not available, in milliseconds. */
const GRACE_MS = 10_000;

/** What the nodes share, and the reactions of a node to messages about its sessions. */
export interface SharedSessionsOptions {
  readonly store: SessionStore;
  readonly events: EventStore;
  readonly bus: MessageBus;
  readonly server: string;
  readonly node: string;
  /** Lifetime of an unused session, in milliseconds. */
  readonly ttlMs: number;
  readonly onMessage: (session: string, message: PeerMessage) => void;
  /** Whether each node that has served a session keeps it, and not only its home. */
  readonly isKeptByAll: () => boolean;
  /** Called with the changes that this node has missed, when another node has told of them. */
  readonly onHeard: (missed: readonly HeardChange[]) => void;
  /** Called every two seconds while the store is available. */
  readonly onBeat: () => void;
  readonly report: (error: Error) => void;
}

/** The state of 2025-era sessions that the nodes of a server share. */
export class SharedSessions {
  readonly node: string;
  /** The events of sessions. Failures become `UnavailableException`s, and are logged. */
  readonly events: EventStore;
  readonly changes = new RecentChanges();
  private readonly channel: NodeChannel;
  private beating?: NodeJS.Timeout;
  private readonly offers = new ConcurrencyLimit(MAX_AT_ONCE);
  /** Runs some of the checks of all sessions at a time. */
  readonly checks = new ConcurrencyLimit(MAX_AT_ONCE);
  /** The time of the last message of each other node, in milliseconds since 1970. */
  private readonly known = new Map<string, number>();
  private hasAsked = false;
  private numbers = 0;
  private downSince?: number;
  private failedAt = 0;
  private warnedAt = 0;

  constructor(private readonly options: SharedSessionsOptions) {
    const { events, bus } = options;
    this.node = options.node;
    this.events = {
      append: (...args) => this.watch(() => events.append(...args)),
      after: async (...args) => this.messagesIn(await this.watch(() => events.after(...args))),
      openStreams: (...args) => this.watch(() => events.openStreams(...args)),
      // Limited, because a change may be sent to all sessions at once.
      push: (...args) => this.offers.pass(() => this.watch(() => events.push(...args))),
      offer: (...args) => this.offers.pass(() => this.watch(() => events.offer(...args))),
      take: async (...args) => this.messagesIn(await this.watch(() => events.take(...args))),
      delete: (...args) => this.watch(() => events.delete(...args)),
    };
    this.channel = new NodeChannel(bus, `sessions:${options.server}`, {
      self: this.node,
      onMessage: data => {
        if (!isRecord(data)) return;
        if (typeof data['runs'] === 'string') return this.learn(data['runs'], data);
        if (typeof data['leaves'] === 'string') return this.forget(data['leaves']);
        if (typeof data['asks'] === 'string') return void this.tellRecent(data['asks'], data['after']);
        if (data['heard'] !== undefined) return this.hear(data);
        if (!isRecord(data['message'])) return;
        options.onMessage(String(data['session']), data['message'] as unknown as PeerMessage);
      },
      onError: error =>
        options.report(new Error(`Nodes do not hear of each other's sessions ("bus"): ${error.message}`)),
    });
  }

  async open(): Promise<void> {
    await this.channel.open();
    this.beating = setInterval(() => void this.beat(), BEAT_MS).unref();
    await this.beat();
  }

  /** Signs this node off. The other nodes keep the sessions. */
  async close(): Promise<void> {
    clearInterval(this.beating);
    await this.watch(() => this.options.store.delete(keyOfNode(this.node))).catch(() => undefined);
    await this.channel.send({ leaves: this.node });
    await this.channel.close();
  }

  /** @throws UnavailableException */
  create(session: string, record: Omit<SessionRecord, 'home'>): Promise<void> {
    const fields = fieldsOf({ ...record, home: this.node });
    return this.watch(() => this.options.store.create(this.keyOf(session), fields, this.options.ttlMs));
  }

  /** @returns undefined for an unknown session. @throws UnavailableException */
  async read(session: string): Promise<SharedState | undefined> {
    const fields = await this.watch(() => this.options.store.read(this.keyOf(session)));
    return fields && stateIn(fields);
  }

  /** Restarts the lifetime of a session. @returns whether the session exists. @throws UnavailableException */
  touch(session: string): Promise<boolean> {
    return this.update(session, { used: String(Date.now()) });
  }

  /**
   * Whether a session has to be checked that was last checked at `time`: because a change may be missing, unless the
   * store has just become unavailable.
   */
  isDoubtful(time: number): boolean {
    if (this.failedAt < time) return false;
    return this.downSince === undefined || Date.now() - this.downSince >= GRACE_MS;
  }

  /**
   * Gives an anonymous session an owner, on every node.
   * @returns the owner, which is another caller if that caller was faster; undefined for an unknown session
   * @throws UnavailableException
   */
  async bind(
    session: string,
    peers: Peers,
    { anonymous, caller }: { anonymous: string; caller: string },
  ): Promise<string | undefined> {
    const isFirst = await this.update(session, { caller }, { caller: anonymous });
    const owner = isFirst ? caller : (await this.read(session))?.caller;
    if (owner !== undefined) await peers.tellHolders({ kind: 'bound', caller: owner });
    return owner;
  }

  /** When a client stopped to listen. If it listened at its home, that may have died since it was heard last. */
  listenedAt({ listenedUntil, home, usedAt }: SharedState, isOrphan: boolean): number {
    if (listenedUntil !== undefined) return listenedUntil;
    if (home === this.node) return Date.now();
    return isOrphan ? usedAt : (this.known.get(home) ?? usedAt);
  }

  /** Ends a session on every node. @throws UnavailableException */
  async delete(session: string, peers: Peers): Promise<void> {
    await this.watch(() => this.options.store.delete(this.keyOf(session)));
    await peers.tellHolders({ kind: 'closed' });
  }

  /** @param listenedUntil when the client stopped to listen, in milliseconds since 1970 */
  sharing(peers: Peers, listenedUntil: number): SessionOptions['share'] {
    return (settings, server) => new SharedSession(peers, this.changes, listenedUntil, settings, server);
  }

  /** @param home the node that sends the messages of the session */
  peersOf(session: string, home: string): Peers {
    const { node } = this;
    let current = home;
    const tell = (message: PeerMessage, to?: string) => this.channel.send({ session, message }, to);
    // After an outage, each node needs time to report again.
    const isCut = () => Date.now() - this.failedAt < BELIEVED_MS;
    const tellHolders = async (message: PeerMessage) => {
      if (this.options.isKeptByAll()) return tell(message);
      const streams = await this.events.openStreams(session).catch(() => NO_STREAMS);
      const nodes = new Set([current, ...[...streams.keys()].map(nodeOfStream)]);
      nodes.delete(node);
      await Promise.all([...nodes].map(one => tell(message, one)));
    };
    const peers: Peers = {
      node,
      get isHome() {
        return current === node;
      },
      tell,
      tellHome: async message => {
        if (current !== node) await tell(message, current);
      },
      tellHolders,
      moved: to => (current = to),
      takeHome: async listens => {
        const seen = listens ? { seen: LISTENS } : {};
        // At its home, a client listens without the store, too.
        if (current === node && listens) await this.update(session, seen).catch(() => undefined);
        for (let tries = 0; current !== node && tries < MAX_TRIES; tries++) {
          const previous = current;
          const expected: SessionFields = previous === '' ? {} : { home: previous };
          if (await this.update(session, { home: node, ...seen }, expected)) {
            current = node;
            if (previous !== '') void tell({ kind: 'moved', to: node, listens }, previous);
            // The nodes told the home before of changes. After a failure of the store, the session is checked anyway.
            const state = await this.read(session).catch(() => undefined);
            if (state) peers.onHome?.(state);
            return previous;
          }
          const state = await this.read(session);
          if (!state) return undefined;
          current = state.home;
        }
        return undefined;
      },
      noteListened: async until => {
        await this.update(session, { seen: String(until) });
      },
      nextNumber: () => (this.numbers += 1),
      isCut,
      knows: one => isCut() || Date.now() - (this.known.get(one) ?? 0) < BELIEVED_MS,
      share: async change => {
        await this.update(session, fieldsOfChange(change));
        // A node that becomes the home later reads the change. After a failure of the store, each node checks the session.
        current = (await this.read(session).catch(() => undefined))?.home ?? current;
        await tellHolders({ kind: 'state', change });
      },
      readChannel: async () => (await this.read(session))?.channel,
      writeChannel: (json, expected) => this.update(session, { channel: json }, { channel: expected }),
      isAlive: async one =>
        isCut() || (await this.watch(() => this.options.store.read(keyOfNode(one)))) !== undefined,
    };
    return peers;
  }

  private update(
    session: string,
    fields: Record<string, string | undefined>,
    expected?: SessionFields,
  ): Promise<boolean> {
    return this.watch(() =>
      this.options.store.update(this.keyOf(session), fields, this.options.ttlMs, expected),
    );
  }

  /** Drops events that another program has written, because a client cannot read them. */
  private messagesIn(events: readonly StoredEvent[]): readonly StoredEvent[] {
    const messages = events.filter(({ json }) => isRecord(jsonIn(json)));
    if (messages.length < events.length && Date.now() - this.warnedAt > WARN_AGAIN_MS) {
      this.warnedAt = Date.now();
      this.options.report(
        new Error(
          'A stored event of a session is no JSON object and was dropped; let only the nodes write to the store',
        ),
      );
    }
    return messages;
  }

  private async beat(): Promise<void> {
    try {
      await this.watch(() => this.options.store.create(keyOfNode(this.node), { v: '1' }, BELIEVED_MS));
      await this.report();
      this.options.onBeat();
    } catch {
      // The failure has been logged.
    }
  }

  private report(): Promise<void> {
    const { changes, node } = this;
    return this.channel.send({ runs: node, lists: changes.lastOfLists, number: changes.numberOf(node) });
  }

  /** @param after the number of the last change that the node knows of this node; a node that starts names none */
  private tellRecent(node: string, after: unknown): Promise<void> {
    const { changes, node: by } = this;
    if (typeof after !== 'number') return this.channel.send({ heard: changes.recent }, node);
    return this.channel.send({ heard: changes.of(by, after), by, number: changes.numberOf(by) }, node);
  }

  private hear({ heard, by, number }: Readonly<Record<string, unknown>>): void {
    const missed = this.changes.learn(heard);
    if (typeof by === 'string' && typeof number === 'number') this.changes.caughtUp(by, number);
    if (missed.length > 0) this.options.onHeard(missed);
  }

  private forget(node: string): void {
    this.known.delete(node);
    this.changes.forget(node);
  }

  /** Servers of one application do not share sessions with each other. */
  private keyOf(session: string): string {
    return `${this.options.server}:${session}`;
  }

  private learn(node: string, { lists, number }: Readonly<Record<string, unknown>>): void {
    const now = Date.now();
    const isNew = !this.known.has(node);
    this.known.set(node, now);
    const { changes, node: self } = this;
    changes.learnLists(lists);
    // Reports at once, so that a new node does not wait for the next beat.
    if (isNew) void this.report();
    // A session of a node that died may come here before this node has heard of its changes.
    if (!this.hasAsked) void this.channel.send({ asks: self }, node);
    this.hasAsked = true;
    const after = changes.numberOf(node);
    // As in an outage, in which each node knows only its own changes.
    if (typeof number === 'number' && number > after) void this.channel.send({ asks: self, after }, node);
    for (const [other, heardAt] of this.known) if (now - heardAt > BELIEVED_MS) this.forget(other);
  }

  private async watch<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.downSince = undefined;
      return result;
    } catch (error) {
      if (this.downSince === undefined) {
        this.options.report(
          new Error(
            `The stores of "sessions" failed; requests that need them are refused: ${messageOf(error)}`,
          ),
        );
      }
      this.failedAt = Date.now();
      this.downSince ??= this.failedAt;
      throw new UnavailableException(error);
    }
  }
}

const NO_STREAMS: ReadonlyMap<string, readonly RequestId[]> = new Map();

const keyOfNode = (node: string): string => `node:${node}`;

/** The name of a stream holds its kind, its node, and a number. */
const nodeOfStream = (name: string): string => name.slice(1, name.indexOf('.'));
