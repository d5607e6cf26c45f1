import { randomUUID } from 'node:crypto';
import { isInitializeRequest, type RequestId } from '@modelcontextprotocol/server';
import type { ResolvedOptions } from '../../server/server-options.js';
import { CallerLimit, isCaller } from '../../protocol/caller-limit.js';
import { serverForConnection } from '../../server/connection-server.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { Incoming } from '../http/incoming.js';
import type { ListenerLimit } from '../http/listener-limit.js';
import { limitError, SHUTTING_DOWN, TransportError } from '../http/transport-error.js';
import { MemoryEventStore, type EventStore } from '../../protocol/event-store.js';
import { Session } from './session.js';

/** The most characters that a session begins with: what a client says of itself is kept as long as its session. */
const MAX_INITIALIZE_LENGTH = 65_536;

/** When to try again to open a session, in seconds. */
const RETRY_AFTER_S = 30;

/** The 2025-era sessions of one endpoint: bounded in number, each ended when it idles, and when its life is over. */
export class SessionStore {
  private readonly sessions = new Map<string, Session>();
  private readonly eventStore: EventStore;
  private readonly limit: CallerLimit;
  private isClosed = false;

  /** @param listeners counts the streams of sessions */
  constructor(
    private readonly server: McpServerInstance,
    private readonly options: ResolvedOptions['sessions'],
    private readonly keepAliveMs: number,
    private readonly listeners: ListenerLimit,
  ) {
    this.eventStore = options.eventStore ?? new MemoryEventStore();
    this.limit = new CallerLimit('sessions', options, RETRY_AFTER_S);
  }

  async serve(incoming: Incoming, body: unknown): Promise<void> {
    const { rawRequest, rawResponse } = incoming;
    const id = rawRequest.headers['mcp-session-id'];
    const caller = ownerOf(incoming);
    if (id === undefined) return this.open(incoming, body, caller);
    const session = this.sessions.get(String(id));
    const anonymous = ownerOf(incoming, 'anonymous');
    // A client that logs in goes on with its session, which is its own from then on.
    if (session?.caller === anonymous && caller !== anonymous && this.server.access?.authorizer) {
      session.bind(caller);
    }
    // Whose session it is may not be learned by trying, so a foreign one looks like none.
    if (session?.caller !== caller) {
      return new TransportError(404, -32001, 'Session not found').send(rawResponse);
    }
    if (rawRequest.method === 'POST') session.post(incoming, body);
    else if (rawRequest.method === 'DELETE') await session.delete(incoming);
    else if (this.listeners.admits(incoming)) session.listen(incoming);
  }

  /** Ends all sessions, and takes no more. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.sessions.values()].map(session => session.close()));
  }

  private async open(incoming: Incoming, body: unknown, caller: string): Promise<void> {
    const refusal = this.refusalOf(incoming, body);
    if (refusal) return refusal.send(incoming.rawResponse);
    const { idleTimeoutMs, maxLifetimeMs } = this.options;
    const { keepAliveMs, limit } = this;
    const id = randomUUID();
    const server = serverForConnection(this.server, 'legacy');
    const { eventStore } = this;
    const session = new Session(this.server, server, { id, caller, idleTimeoutMs, keepAliveMs, eventStore });
    const life = setTimeout(() => void session.close(), maxLifetimeMs).unref();
    server.server.onclose = () => {
      clearTimeout(life);
      if (this.sessions.delete(id)) limit.release(incoming.caller);
    };
    this.sessions.set(id, session);
    await server.connect(session);
    if (!session.post(incoming, body)) await session.close();
  }

  /** Refuses a request that opens no session, or counts the session. */
  private refusalOf({ rawRequest, caller }: Incoming, body: unknown): TransportError | undefined {
    if (rawRequest.method !== 'POST' || !isInitializeRequest(body)) {
      return new TransportError(400, -32000, 'Bad Request: Mcp-Session-Id header is required');
    }
    if (JSON.stringify(body.params).length > MAX_INITIALIZE_LENGTH) {
      return new TransportError(
        400,
        -32602,
        `Bad Request: initialize has more than ${MAX_INITIALIZE_LENGTH} characters`,
      );
    }
    if (this.isClosed) return SHUTTING_DOWN;
    const reached = this.limit.take(caller);
    return reached && limitError(reached, (body as { id?: RequestId }).id);
  }
}

/**
 * Who calls, and under which parameters of the path: the session of one tenant does not serve another. An anonymous client
 * may change its address.
 */
function ownerOf({ caller, request }: Incoming, owner = isCaller(caller) ? caller : 'anonymous'): string {
  const { params = {} } = request as { params?: object };
  return Object.keys(params).length === 0 ? owner : JSON.stringify([owner, params]);
}
