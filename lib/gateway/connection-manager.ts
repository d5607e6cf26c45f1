import { ProtocolError, type Result } from '@modelcontextprotocol/server';
import { ConnectionError } from '../connection/connection.js';
import { callerOf } from '../protocol/caller.js';
import type { ClientChannel, McpCall, Params } from '../protocol/mcp-call.js';
import type { BackendConnection } from './backend-connection.js';
import type { Call } from './call.js';
import { callerKey } from './caller-params.js';
import { ConnectionPool } from './connection-pool.js';
import type { GatewayLimits } from './gateway-options.js';
import { tooManyConnections } from './limits.js';
import { METHODS } from '../protocol/methods.js';
import { SessionConnection } from './session-connection.js';

/** The connections to a 2025-era backend: one for each 2025-era session, and a pool for other callers. */
export class ConnectionManager {
  private readonly sessions = new Map<ClientChannel, SessionConnection>();
  private readonly pool: ConnectionPool;

  constructor(
    private readonly limits: Required<GatewayLimits>,
    private readonly open: (
      capabilities: McpCall['clientCapabilities'],
      session?: SessionConnection,
    ) => BackendConnection,
    private readonly report: (error: Error) => void,
  ) {
    this.pool = new ConnectionPool(() => this.hasRoom(), limits);
  }

  known(channel: ClientChannel | undefined): SessionConnection | undefined {
    return channel && this.sessions.get(channel);
  }

  sessionOf(channel: ClientChannel): SessionConnection {
    const session =
      this.sessions.get(channel) ??
      new SessionConnection(channel, one => this.open(channel.capabilities, one), this.report);
    this.sessions.set(channel, session);
    return session;
  }

  connectionOf(channel: ClientChannel): BackendConnection {
    const session = this.sessionOf(channel);
    if (!session.hasConnection && !this.hasRoom()) throw tooManyConnections();
    return session.connection;
  }

  /**
   * @param asks whether the backend may ask the client for input
   * @throws McpException (-32000) for too many connections
   */
  async pooled(
    method: string,
    params: Params,
    exchange: McpCall,
    { call, signal, asks }: { call: Call; signal: AbortSignal; asks: boolean },
  ): Promise<Result> {
    const { authInfo, http, clientCapabilities } = exchange;
    const borrower = { caller: callerOf(authInfo, http?.request), key: callerKey(exchange) };
    const lease = this.pool.lease(borrower, asks ? call : undefined, () => this.open(clientCapabilities));
    // Two anonymous calls may be of different callers.
    let isSpent = asks && call.isAnonymous;
    try {
      return await lease.connection.request(method, params, { call, signal });
    } catch (error) {
      // Without an answer, the backend may still work on the call.
      isSpent ||=
        METHODS.get(method)?.canAsk === true &&
        !(error instanceof ProtocolError || error instanceof ConnectionError);
      throw error;
    } finally {
      lease.release(isSpent);
    }
  }

  closed(channel: ClientChannel): void {
    const session = this.sessions.get(channel);
    this.sessions.delete(channel);
    session?.close().catch(this.report);
  }

  async close(): Promise<void> {
    const sessions = [...this.sessions.values()];
    this.sessions.clear();
    await Promise.all([this.pool.close(), ...sessions.map(session => session.close())]);
  }

  /** If there are too many, a session without a recent request gives up its connection. */
  private hasRoom(): boolean {
    const { maxConnections, idleTimeoutMs } = this.limits;
    const sessions = [...this.sessions.values()];
    const open = sessions.filter(({ hasConnection }) => hasConnection).length + this.pool.size;
    return open < maxConnections || sessions.some(session => session.giveUpIfIdle(idleTimeoutMs));
  }
}
