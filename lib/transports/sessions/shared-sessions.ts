import { randomBytes } from 'node:crypto';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import type { EventStore, StoredEvent } from '../../stores/event-store.js';
import type { MessageBus } from '../../stores/message-bus.js';
import { NodeChannel } from '../../stores/node-channel.js';
import type { SessionFields, SessionStore } from '../../stores/session-store.js';
import { isRecord } from '../../util/is-record.js';
import { jsonIn } from '../../util/json-in.js';
import { messageOf } from '../../util/message-of.js';
import type { PeerMessage, Peers } from './peers.js';
import { Turnstile } from './turnstile.js';
import {
  fieldOfStream,
  fieldsOf,
  fieldsOfChange,
  requestsIn,
  stateIn,
  type SessionRecord,
  type SharedState,
} from './session-record.js';

/** Interval at which a node reports that it runs, and how long other nodes believe it, in milliseconds. */
const BEAT_MS = 2000;
const BELIEVED_MS = 6000;

/** Minimum time between two warnings about malformed events, in milliseconds. */
const WARN_AGAIN_MS = 60_000;

/** Maximum simultaneous writes of messages to the store. */
const MAX_OFFERS = 200;

/** Reactions of a node to messages about its sessions. */
export interface SharedSessionsOptions {
  readonly server: string;
  /** Lifetime of an unused session, in milliseconds. */
  readonly ttlMs: number;
  readonly onMessage: (session: string, message: PeerMessage) => void;
  /** Called every two seconds while the store is available. */
  readonly onBeat: () => void;
  readonly report: (error: Error) => void;
}

interface SharedStores {
  readonly store: SessionStore;
  readonly events: EventStore;
  readonly bus: MessageBus;
}

/** The state of 2025-era sessions that the nodes of a server share. */
export class SharedSessions {
  readonly node = randomBytes(4).toString('hex');
  /** The events of sessions. Failures become `UnavailableException`s, and are logged. */
  readonly events: EventStore;
  private readonly channel: NodeChannel;
  private readonly store: SessionStore;
  private beating?: NodeJS.Timeout;
  private readonly turnstile = new Turnstile(MAX_OFFERS);
  /** The time of the last message of each other node, in milliseconds since 1970. */
  private readonly known = new Map<string, number>();
  private streams = 0;
  private isDown = false;
  private failedAt = 0;
  private warnedAt = 0;

  constructor(
    { store, events, bus }: SharedStores,
    private readonly options: SharedSessionsOptions,
  ) {
    this.store = store;
    this.events = {
      append: (...args) => this.watch(() => events.append(...args)),
      after: async (...args) => this.messagesIn(await this.watch(() => events.after(...args))),
      // Limited, because a change may be sent to all sessions at once.
      offer: (...args) => this.turnstile.pass(() => this.watch(() => events.offer(...args))),
      take: async (...args) => this.messagesIn(await this.watch(() => events.take(...args))),
      delete: (...args) => this.watch(() => events.delete(...args)),
    };
    this.channel = new NodeChannel(bus, `sessions:${options.server}`, {
      onMessage: data => {
        if (!isRecord(data)) return;
        if (typeof data['runs'] === 'string') return this.learn(data['runs']);
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
    await this.watch(() => this.store.delete(keyOfNode(this.node))).catch(() => undefined);
    await this.channel.close();
  }

  /** @throws UnavailableException */
  create(session: string, record: SessionRecord): Promise<void> {
    return this.watch(() => this.store.create(this.keyOf(session), fieldsOf(record), this.options.ttlMs));
  }

  /** @returns undefined for an unknown session. @throws UnavailableException */
  async read(session: string): Promise<SharedState | undefined> {
    const fields = await this.watch(() => this.store.read(this.keyOf(session)));
    return fields && stateIn(fields);
  }

  /** Restarts the lifetime of a session. @returns whether the session exists. @throws UnavailableException */
  touch(session: string): Promise<boolean> {
    return this.update(session, {});
  }

  /** Whether the store has failed since `time`, so that changes may be missing here. */
  hasFailedSince(time: number): boolean {
    return this.failedAt >= time;
  }

  /**
   * Gives an anonymous session an owner, on every node.
   * @returns the owner, which is another caller if that caller was faster; undefined for an unknown session
   * @throws UnavailableException
   */
  async bind(session: string, anonymous: string, caller: string): Promise<string | undefined> {
    const isFirst = await this.update(session, { caller }, { caller: anonymous });
    const owner = isFirst ? caller : (await this.read(session))?.caller;
    if (owner !== undefined) {
      await this.channel.send({ session, message: { kind: 'bound', caller: owner } satisfies PeerMessage });
    }
    return owner;
  }

  /** Ends a session on every node. @throws UnavailableException */
  async delete(session: string): Promise<void> {
    await this.watch(() => this.store.delete(this.keyOf(session)));
    await this.channel.send({ session, message: { kind: 'closed' } satisfies PeerMessage });
  }

  peersOf(session: string): Peers {
    const tell = (message: PeerMessage) => this.channel.send({ session, message });
    const note = async (fields: Record<string, string | undefined>) => {
      await this.update(session, fields);
    };
    // After an outage, each node needs time to report again.
    const isCut = () => Date.now() - this.failedAt < BELIEVED_MS;
    return {
      node: this.node,
      isCut,
      tell,
      nextStream: () => (this.streams += 1),
      knows: node => isCut() || Date.now() - (this.known.get(node) ?? 0) < BELIEVED_MS,
      share: async change => {
        await this.update(session, fieldsOfChange(change));
        await tell({ kind: 'state', change });
      },
      begin: (stream, requests) => note(fieldOfStream(stream, requests)),
      finish: stream => note(fieldOfStream(stream)),
      requestsOf: async stream =>
        requestsIn(await this.watch(() => this.store.read(this.keyOf(session))), stream),
      isAlive: async node =>
        isCut() || (await this.watch(() => this.store.read(keyOfNode(node)))) !== undefined,
    };
  }

  private update(
    session: string,
    fields: Record<string, string | undefined>,
    expected?: SessionFields,
  ): Promise<boolean> {
    return this.watch(() => this.store.update(this.keyOf(session), fields, this.options.ttlMs, expected));
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
      await this.watch(() => this.store.create(keyOfNode(this.node), { v: '1' }, BELIEVED_MS));
      await this.channel.send({ runs: this.node });
      this.options.onBeat();
    } catch {
      // The failure has been logged.
    }
  }

  /** Servers of one application do not share sessions with each other. */
  private keyOf(session: string): string {
    return `${this.options.server}:${session}`;
  }

  private learn(node: string): void {
    const now = Date.now();
    const isNew = !this.known.has(node);
    this.known.set(node, now);
    // Reports at once, so that a new node does not wait for the next beat.
    if (isNew) void this.channel.send({ runs: this.node });
    for (const [other, seenAt] of this.known) if (now - seenAt > BELIEVED_MS) this.known.delete(other);
  }

  private async watch<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.isDown = false;
      return result;
    } catch (error) {
      if (!this.isDown) {
        this.options.report(
          new Error(
            `The stores of "sessions" failed; requests that need them are refused: ${messageOf(error)}`,
          ),
        );
      }
      this.isDown = true;
      this.failedAt = Date.now();
      throw new UnavailableException(error);
    }
  }
}

const keyOfNode = (node: string): string => `node:${node}`;
