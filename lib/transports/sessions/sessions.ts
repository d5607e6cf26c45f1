import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { isInitializeRequest, type RequestId } from '@modelcontextprotocol/server';
import type { ResolvedOptions } from '../../server/server-options.js';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import { CallerLimit, isCaller } from '../../protocol/caller-limit.js';
import type { EventStore } from '../../stores/event-store.js';
import { MemoryEventStore } from '../../stores/memory-event-store.js';
import { serverForConnection } from '../../server/connection-server.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { MessageBus } from '../../stores/message-bus.js';
import type { SessionStore } from '../../stores/session-store.js';
import { isGone } from '../http/connections.js';
import type { Incoming } from '../http/incoming.js';
import type { ListenerLimit } from '../http/listener-limit.js';
import { limitError, LimitError, SHUTTING_DOWN, TransportError } from '../http/transport-error.js';
import { Session, unavailable } from './session.js';
import type { Peers } from './peers.js';
import { assertVersion, type Posted } from './session-body.js';
import type { SharedSessions } from './shared-sessions.js';

/** Maximum characters of the `initialize` parameters, which are kept as long as the session. */
const MAX_INITIALIZE_LENGTH = 65_536;

/** Delay before a client may try again to open a session, in seconds. */
const RETRY_AFTER_S = 30;

/** Time for clients to reconnect to another node, in milliseconds. */
const HAND_OVER_MS = 1000;

const SESSION_ID = /^[\da-f-]{36}$/;

interface HoldOptions {
  readonly peers?: Peers;
  /** Whether the session counts in the limits of this node already. */
  readonly isCounted?: boolean;
  readonly listenedUntil?: number;
}

/** The 2025-era sessions of one endpoint. Their number, idle time and lifetime are bounded. */
export class Sessions {
  private readonly held = new Map<string, Session>();
  /** Sessions of other nodes that are being restored here. */
  private readonly restoring = new Map<string, Promise<Session | undefined>>();
  private eventStore: EventStore;
  private readonly limit: CallerLimit;
  private shared?: SharedSessions;
  private readonly uncheckedMs: number;
  private isClosed = false;
  private isChecking = false;
  private stopListening = () => {};

  /**
   * @param listeners counts the streams of sessions
   * @param answers what to cancel when a response has closed
   */
  constructor(
    private readonly server: McpServerInstance,
    private readonly options: ResolvedOptions['sessions'],
    private readonly keepAliveMs: number,
    private readonly listeners: ListenerLimit,
    private readonly answers: Map<ServerResponse, { cancel(): void } | undefined>,
  ) {
    const { eventStore, idleTimeoutMs } = options;
    this.limit = new CallerLimit('sessions', options, {
      retryAfter: RETRY_AFTER_S,
      counting: server.options.counting,
    });
    server.limits['sessions'] = this.limit;
    server.openItems.sessions = this.held;
    // Long before the record expires, which outlives the idle time by half of it.
    this.uncheckedMs = idleTimeoutMs / 2;
    const events = eventStore ?? new MemoryEventStore();
    this.eventStore = events;
    if (events instanceof MemoryEventStore) server.gauges['eventStore'] = () => events.length;
  }

  async open(): Promise<void> {
    const { store } = this.options;
    const { bus } = this.server.options;
    if (store && bus) await this.share(store, bus);
  }

  async serve(incoming: Incoming, posted: Posted): Promise<void> {
    const { rawRequest, rawResponse } = incoming;
    const id = rawRequest.headers['mcp-session-id'];
    const caller = ownerOf(incoming);
    let session: Session | undefined;
    try {
      if (id === undefined) return await this.begin(incoming, posted, caller);
      session = this.shared ? await this.find(String(id), incoming) : this.held.get(String(id));
      // The client may have disconnected while the store answered.
      if (isGone(rawRequest, rawResponse)) return;
      // A session of another caller looks unknown, so that its existence stays secret.
      if (!session || (session.caller !== caller && !this.isOwner(session.caller, incoming))) {
        throw NOT_FOUND;
      }
      // A client that logs in becomes the owner of its anonymous session.
      if (session.caller !== caller) await this.bind(session, caller);
      if (rawRequest.method === 'POST') this.post(session, incoming, posted);
      else if (rawRequest.method === 'DELETE') await this.end(session, incoming);
      else if (await this.listeners.admits(incoming)) {
        // The session may have ended while the other nodes were asked.
        if (this.held.get(session.sessionId) !== session) throw NOT_FOUND;
        await session.listen(incoming);
      }
    } catch (error) {
      const refusal = error instanceof UnavailableException ? unavailable(error) : error;
      if (!(refusal instanceof TransportError) || rawResponse.headersSent) throw error;
      if (!(refusal instanceof LimitError)) this.server.refused(refusal.status);
      refusal.send(rawResponse);
    } finally {
      if (this.shared) session?.settle();
    }
  }

  /**
   * Makes listening clients reconnect to another node, and waits until they have. Until then, only this node can reach
   * them.
   */
  async handOver(): Promise<void> {
    if (!this.shared) return;
    const left = [...this.held.values()].filter(session => session.handOver());
    if (left.length > 0) await pause(HAND_OVER_MS);
  }

  /** Closes all sessions on this node, and refuses new ones. Shared sessions continue on other nodes. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.stopListening();
    await Promise.all([...this.held.values()].map(session => session.close()));
    await this.shared?.close();
  }

  private async share(store: SessionStore, bus: MessageBus): Promise<void> {
    const { SharedSessions: Shared } = await import('./shared-sessions.js');
    const { server } = this;
    const { idleTimeoutMs } = this.options;
    this.shared = new Shared({
      store,
      bus,
      events: this.eventStore,
      server: server.options.name,
      node: server.node,
      // Longer than the idle time, so that the record outlives an idle session of a node.
      ttlMs: Math.ceil(idleTimeoutMs * 1.5),
      onMessage: (id, message) => {
        const whenRestored = this.restoring.get(id);
        // The request that needs the session reports the failure.
        if (whenRestored) whenRestored.then(session => session?.hear(message)).catch(() => undefined);
        else this.held.get(id)?.hear(message);
      },
      isKeptByAll: () => server.handlers.channels?.isBound === true,
      onHeard: missed => {
        for (const session of this.held.values()) session.shared?.catchUp(missed);
      },
      onBeat: () => void this.check(),
      report: error => server.report(error),
    });
    this.eventStore = this.shared.events;
    const { changes } = this.shared;
    this.stopListening = server.bus.subscribe(event => changes.add(event));
    await this.shared.open();
  }

  /** @throws TransportError for a request that does not open a session; UnavailableException */
  private async begin(incoming: Incoming, posted: Posted, caller: string): Promise<void> {
    const { params, id: requestId } = this.initializeIn(incoming, posted.json);
    const id = randomUUID();
    const openedAt = Date.now();
    const reached = await this.limit.claim(incoming.caller);
    if (reached) throw limitError(reached, requestId);
    if (this.isClosed) {
      this.limit.release(incoming.caller);
      throw SHUTTING_DOWN;
    }
    const session = await this.hold(id, { caller, openedAt }, incoming.caller, {
      peers: this.shared?.peersOf(id, this.shared.node),
      isCounted: true,
    });
    try {
      const channel = this.server.handlers.channels && '{}';
      await this.shared?.create(id, { caller, openedAt, params, channel });
      this.post(session, incoming, posted);
    } catch (error) {
      await this.expire(session);
      throw error;
    }
  }

  private post(session: Session, incoming: Incoming, posted: Posted): void {
    const { rawResponse } = incoming;
    const answer = session.post(incoming, posted);
    if (this.answers.has(rawResponse)) this.answers.set(rawResponse, answer);
    // The client has disconnected in the meantime.
    else answer?.cancel();
  }

  /** Finds a session, also of another node. @throws UnavailableException; TransportError past a cap */
  private async find(id: string, incoming: Incoming): Promise<Session | undefined> {
    for (let restoring = this.restoring.get(id); restoring; restoring = this.restoring.get(id)) {
      const session = await restoring.catch(() => undefined);
      if (session) return session;
    }
    const held = this.held.get(id);
    if (!held) return SESSION_ID.test(id) ? this.restore(id, incoming) : undefined;
    if (!this.isOwner(held.caller, incoming)) return undefined;
    if (this.isDoubtful(held)) await this.confirm(held);
    return this.held.get(id);
  }

  private isDoubtful({ checkedAt }: Session): boolean {
    return Date.now() - checkedAt >= this.uncheckedMs || this.shared!.isDoubtful(checkedAt);
  }

  /** Checks with the store that a session still exists, and closes it if not. @throws UnavailableException */
  private async confirm(session: Session): Promise<void> {
    const { sessionId: id } = session;
    const shared = this.shared!;
    // Another node may have told of a change that did not arrive here.
    const state = await shared.read(id);
    if (!state || !(await shared.touch(id))) return session.close();
    session.checkedAt = Date.now();
    session.adopt(state);
    session.flush();
  }

  /** Whether a request may use the session. The first caller with a token may take an anonymous session. */
  private isOwner(owner: string, incoming: Incoming): boolean {
    return (
      owner === ownerOf(incoming) ||
      (this.server.admission !== undefined && owner === ownerOf(incoming, 'anonymous'))
    );
  }

  /** @throws TransportError if another caller has become its owner in the meantime; UnavailableException */
  private async bind(session: Session, caller: string): Promise<void> {
    const { shared } = this;
    const { sessionId, caller: anonymous } = session;
    const peers = session.shared?.peers;
    const owner = shared && peers ? await shared.bind(sessionId, peers, { anonymous, caller }) : caller;
    if (owner !== undefined) session.bind(owner);
    if (owner !== caller) throw NOT_FOUND;
  }

  private restore(id: string, incoming: Incoming): Promise<Session | undefined> {
    const restored = this.makeFrom(id, incoming).finally(() => this.restoring.delete(id));
    this.restoring.set(id, restored);
    return restored;
  }

  private async makeFrom(id: string, incoming: Incoming): Promise<Session | undefined> {
    const shared = this.shared!;
    const state = await shared.read(id);
    if (!state || !this.isOwner(state.caller, incoming)) return undefined;
    const isOld = Date.now() - state.usedAt >= this.uncheckedMs;
    if (isOld && !(await shared.touch(id))) return undefined;
    await this.server.handlers.channels?.known();
    if (this.isClosed) throw SHUTTING_DOWN;
    const peers = shared.peersOf(id, state.home);
    const isOrphan = !peers.isHome && !peers.knows(state.home) && !(await peers.isAlive(state.home));
    const session = await this.hold(id, state, incoming.caller, {
      peers,
      listenedUntil: shared.listenedAt(state, isOrphan),
    });
    await session.restore(state);
    if (isOrphan) await session.shared?.takeHome();
    return session;
  }

  /** @param limitKey the caller that the session counts for */
  private async hold(
    id: string,
    { caller, openedAt }: { readonly caller: string; readonly openedAt: number },
    limitKey: string,
    { peers, isCounted = false, listenedUntil = openedAt }: HoldOptions,
  ): Promise<Session> {
    const { eventStore, keepAliveMs, shared } = this;
    const { idleTimeoutMs, maxLifetimeMs, resumeMs } = this.options;
    const server = serverForConnection(this.server, 'legacy');
    server.isObserved = isCounted;
    let counts = isCounted;
    const { channels } = this.server.handlers;
    const session = new Session(this.server, server, {
      id,
      caller,
      limitKey,
      openedAt,
      idleTimeoutMs,
      resumeMs,
      keepAliveMs,
      eventStore,
      share: peers && shared?.sharing(peers, listenedUntil),
      isKept: peers && (() => channels?.isBound === true || (counts && peers.isHome)),
      onUnused: () => {
        // A session that another node has accepted is not refused, but past the caps it is not kept either.
        if (peers?.isHome && !counts) server.isObserved = counts = this.limit.take(limitKey) === undefined;
        if (!counts || !peers?.isHome) void session.close();
      },
    });
    const left = Math.max(0, openedAt + maxLifetimeMs - Date.now());
    const life = setTimeout(() => void this.expire(session), left).unref();
    server.server.onclose = () => {
      clearTimeout(life);
      if (!this.held.delete(id)) return;
      if (counts) this.limit.release(limitKey);
      // If nodes share the session, another node may still serve it.
      if (!shared) eventStore.delete(id).catch((error: Error) => this.server.report(error));
    };
    this.held.set(id, session);
    await server.connect(session);
    return session;
  }

  private async end(session: Session, { rawRequest, rawResponse }: Incoming): Promise<void> {
    assertVersion(rawRequest.headers['mcp-protocol-version']);
    await this.forget(session);
    rawResponse.writeHead(200).end();
  }

  /** Ends a session on every node. @throws UnavailableException; then the session continues */
  private async forget(session: Session): Promise<void> {
    const { shared } = this;
    if (session.shared) {
      await shared?.delete(session.sessionId, session.shared.peers);
      session.shared.isOver = true;
    }
    await session.close();
    if (!shared) return;
    await this.eventStore.delete(session.sessionId).catch(() => undefined);
  }

  /** Ends a session here, and on other nodes as soon as they learn of it. */
  private async expire(session: Session): Promise<void> {
    await this.forget(session).catch(() => session.close());
  }

  /** Confirms the sessions that are in use, some at a time, and catches up with other nodes. */
  private async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    for (const session of this.held.values()) session.settle();
    const used = [...this.held.values()].filter(session => session.isUsed);
    await Promise.all(
      used.map(session =>
        this.shared!.checks.pass(async () => {
          await session.catchUp();
          if (this.isDoubtful(session)) await this.confirm(session);
        }).catch(() => undefined),
      ),
    );
    this.isChecking = false;
  }

  /** @throws TransportError for a request that does not open a session */
  private initializeIn({ rawRequest }: Incoming, body: unknown): { params: Params; id: RequestId } {
    if (rawRequest.method !== 'POST' || !isInitializeRequest(body)) {
      throw new TransportError(400, -32000, 'Bad Request: Mcp-Session-Id header is required');
    }
    if (JSON.stringify(body.params).length > MAX_INITIALIZE_LENGTH) {
      throw new TransportError(
        400,
        -32602,
        `Bad Request: initialize has more than ${MAX_INITIALIZE_LENGTH} characters`,
      );
    }
    return { params: body.params, id: (body as { id?: RequestId }).id! };
  }
}

type Params = Record<string, unknown>;

const NOT_FOUND = new TransportError(404, -32001, 'Session not found');

/**
 * The owner of a session: the caller, the parameters of the path and the view, because a session of one tenant or view must
 * not serve another. An anonymous client may change its address.
 */
function ownerOf(
  { caller, request, view }: Incoming,
  owner = isCaller(caller) ? caller : 'anonymous',
): string {
  const { params = {} } = request as { params?: object };
  if (view) return JSON.stringify([owner, params, view.key]);
  return Object.keys(params).length === 0 ? owner : JSON.stringify([owner, params]);
}
