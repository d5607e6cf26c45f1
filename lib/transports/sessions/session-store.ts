import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type McpHandlerRequestOptions,
} from '@modelcontextprotocol/server';
import type { ResolvedOptions } from '../../mcp.module-options.js';
import { callerOf } from '../../server/caller.js';
import type { McpServerHost } from '../../server/mcp-server-host.js';
import { TransportError } from '../http/transport-error.js';
import { Session } from './session.js';

const SESSION_HEADER = 'mcp-session-id';

/** The most characters that a session begins with: what a client says of itself is kept as long as its session. */
const MAX_INITIALIZE_LENGTH = 65_536;

/** The 2025-era sessions of one endpoint: bounded in number, each ended when it idles. */
export class SessionStore {
  private readonly sessions = new Map<string, Session>();
  /** Sessions whose `initialize` is under way; they count against the bound. */
  private opening = 0;
  private closed = false;

  constructor(
    private readonly host: McpServerHost,
    private readonly limits: ResolvedOptions['sessions'],
    private readonly keepAliveMs: number,
  ) {}

  /** How many sessions there are. */
  get size(): number {
    return this.sessions.size + this.opening;
  }

  async fetch(request: Request, options: McpHandlerRequestOptions): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    const caller = ownerOf(options.authInfo, this.host.httpOf(request)?.request);
    if (id !== null) {
      const session = this.sessions.get(id);
      // Whose session it is may not be learned by trying, so a foreign one looks like none.
      if (session?.caller !== caller)
        return new TransportError(404, -32001, 'Session not found').toResponse();
      const response = await session.serve(request, options);
      if (request.method === 'GET' && response.ok) session.server.streamsOn(this.host.httpOf(request));
      return response;
    }
    if (request.method !== 'POST' || !isInitializeRequest(options.parsedBody)) {
      return new TransportError(400, -32000, 'Bad Request: Mcp-Session-Id header is required').toResponse();
    }
    if (JSON.stringify(options.parsedBody.params).length > MAX_INITIALIZE_LENGTH) {
      return new TransportError(
        400,
        -32602,
        `Bad Request: initialize has more than ${MAX_INITIALIZE_LENGTH} characters`,
      ).toResponse();
    }
    return this.open(request, options, caller);
  }

  /** Ends all sessions, and takes no more. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.sessions.values()].map(session => session.close()));
  }

  private async open(request: Request, options: McpHandlerRequestOptions, caller: string): Promise<Response> {
    if (this.closed || this.size >= this.limits.max) {
      return new TransportError(503, -32000, 'Too many sessions; try again later').toResponse({
        'retry-after': '30',
      });
    }
    this.opening += 1;
    try {
      const session = await this.create(caller);
      const response = await session.serve(request, options);
      // An `initialize` that was refused leaves no session behind.
      if (!this.sessions.has(session.id)) await session.close();
      return response;
    } finally {
      this.opening -= 1;
    }
  }

  private async create(caller: string): Promise<Session> {
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: this.keepAliveMs,
      onsessioninitialized: () => void this.sessions.set(id, session),
    });
    const server = this.host.forConnection('legacy');
    const session: Session = new Session(id, caller, server, transport, this.limits.idleTimeoutMs);
    server.server.onclose = () => {
      session.dispose();
      this.sessions.delete(id);
    };
    await server.connect(transport);
    return session;
  }
}

/** Who calls, and under which parameters of the path: the session of one tenant does not serve another. */
function ownerOf(authInfo: AuthInfo | undefined, platformRequest: object | undefined): string {
  const { params } = (platformRequest ?? {}) as { params?: object };
  return JSON.stringify([callerOf(authInfo, platformRequest), params ?? {}]);
}
