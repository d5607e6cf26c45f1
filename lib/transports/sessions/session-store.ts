import { randomUUID } from 'node:crypto';
import { isInitializeRequest, type AuthInfo } from '@modelcontextprotocol/server';
import type { ResolvedOptions } from '../../server/server-options.js';
import { callerOf } from '../../protocol/caller.js';
import { serverForConnection } from '../../server/connection-server.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { Incoming } from '../http/incoming.js';
import { TransportError } from '../http/transport-error.js';
import { MemoryEventStore, type EventStore } from '../../protocol/event-store.js';
import { Session } from './session.js';

/** The most characters that a session begins with: what a client says of itself is kept as long as its session. */
const MAX_INITIALIZE_LENGTH = 65_536;

/** The 2025-era sessions of one endpoint: bounded in number, each ended when it idles. */
export class SessionStore {
  private readonly sessions = new Map<string, Session>();
  private readonly eventStore: EventStore;
  private isClosed = false;

  constructor(
    private readonly server: McpServerInstance,
    private readonly limits: ResolvedOptions['sessions'],
    private readonly keepAliveMs: number,
  ) {
    this.eventStore = limits.eventStore ?? new MemoryEventStore();
  }

  async serve(incoming: Incoming, body: unknown): Promise<void> {
    const { rawRequest, rawResponse, authInfo, request } = incoming;
    const id = rawRequest.headers['mcp-session-id'];
    const caller = ownerOf(authInfo, request);
    if (id === undefined) return this.open(incoming, body, caller);
    const session = this.sessions.get(String(id));
    // Whose session it is may not be learned by trying, so a foreign one looks like none.
    if (session?.caller !== caller) {
      return new TransportError(404, -32001, 'Session not found').send(rawResponse);
    }
    if (rawRequest.method === 'POST') session.post(incoming, body);
    else if (rawRequest.method === 'GET') session.listen(incoming);
    else await session.delete(incoming);
  }

  /** Ends all sessions, and takes no more. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.sessions.values()].map(session => session.close()));
  }

  private async open(incoming: Incoming, body: unknown, caller: string): Promise<void> {
    const refusal = this.refusalOf(incoming, body);
    if (refusal) return refusal.send(incoming.rawResponse);
    const { idleTimeoutMs } = this.limits;
    const { keepAliveMs } = this;
    const id = randomUUID();
    const server = serverForConnection(this.server, 'legacy');
    const { eventStore } = this;
    const session = new Session(this.server, server, { id, caller, idleTimeoutMs, keepAliveMs, eventStore });
    server.server.onclose = () => this.sessions.delete(id);
    this.sessions.set(id, session);
    await server.connect(session);
    if (!session.post(incoming, body)) await session.close();
  }

  private refusalOf({ rawRequest }: Incoming, body: unknown): TransportError | undefined {
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
    if (this.isClosed || this.sessions.size >= this.limits.max) {
      const headers = { 'retry-after': '30' };
      return new TransportError(503, -32000, 'Too many sessions; try again later', { headers });
    }
    return undefined;
  }
}

/** Who calls, and under which parameters of the path: the session of one tenant does not serve another. */
function ownerOf(authInfo: AuthInfo | undefined, platformRequest: object | undefined): string {
  const { params = {} } = (platformRequest ?? {}) as { params?: object };
  const caller = callerOf(authInfo, platformRequest);
  return Object.keys(params).length === 0 ? caller : JSON.stringify([caller, params]);
}
