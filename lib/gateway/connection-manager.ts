import { createHash } from 'node:crypto';
import { ProtocolError, type Result } from '@modelcontextprotocol/server';
import { ConnectionError } from '../client/connection.js';
import { callerOf } from '../server/caller.js';
import type { Params } from '../server/dispatcher.js';
import type { Exchange } from '../server/exchange.js';
import type { ClientChannel } from '../server/upstream.js';
import type { BackendHost } from './backend.js';
import { isCall, type Call } from './call.js';
import { askable } from './caller-params.js';
import type { GatewayBackend } from './gateway-options.js';
import { BackendConnection, type ConnectionOwner } from './backend-connection.js';
import { ConnectionPool, tooMany } from './connection-pool.js';
import { SessionConnection } from './session-connection.js';

/** A request that goes over a connection of the pool. */
export interface PooledRequest {
  readonly call: Call;
  readonly signal: AbortSignal;
  /** Whether the backend may ask the client for something meanwhile. */
  readonly asks: boolean;
}

/**
 * The connections to a backend by the clients that they are for: each 2025-era session has its own, where the backend is
 * of that era, all others share a pool. Together they are bounded in number.
 */
export class ConnectionManager {
  private readonly sessions = new Map<ClientChannel, SessionConnection>();
  private readonly pool: ConnectionPool;

  /**
   * @param owner of the connections of the pool
   * @param onChange called when the backend's lists may show a session something else
   */
  constructor(
    private readonly name: string,
    private readonly options: GatewayBackend,
    private readonly host: BackendHost,
    private readonly owner: ConnectionOwner,
    private readonly onChange: (session: SessionConnection) => void,
  ) {
    this.pool = new ConnectionPool(() => this.hasRoom || this.makeRoom(), host.settings.limits);
  }

  known(channel: ClientChannel | undefined): SessionConnection | undefined {
    return channel && this.sessions.get(channel);
  }

  sessionOf(channel: ClientChannel): SessionConnection {
    const known = this.sessions.get(channel);
    if (known) return known;
    const session: SessionConnection = new SessionConnection(
      channel,
      this.name,
      this.options,
      this.host,
      () => this.onChange(session),
    );
    this.sessions.set(channel, session);
    return session;
  }

  /**
   * The connection of a session.
   * @throws McpException (-32000) where there are too many
   */
  connectionOf(channel: ClientChannel): BackendConnection {
    const session = this.sessionOf(channel);
    if (!session.hasConnection && !this.hasRoom && !this.makeRoom()) throw tooMany();
    return session.connection;
  }

  /**
   * Sends a request over a connection of the pool.
   * @throws McpException (-32000) where there are too many; whatever the request ends with
   */
  async pooled(
    method: string,
    params: Params,
    exchange: Exchange,
    { call, signal, asks }: PooledRequest,
  ): Promise<Result> {
    const borrower = {
      caller: callerOf(exchange.authInfo, exchange.http?.request),
      key: callerKey(exchange),
    };
    const lease = this.pool.lease(borrower, asks ? call : undefined, () => this.open(exchange));
    // Of a caller who is not known, no other call could follow on the connection.
    let isSpent = asks && call.isAnonymous;
    try {
      return await lease.connection.request(method, params, { call, signal });
    } catch (error) {
      // Without the backend's answer, what the call has started may go on.
      isSpent ||= isCall(method) && !(error instanceof ProtocolError || error instanceof ConnectionError);
      throw error;
    } finally {
      lease.release(isSpent);
    }
  }

  closed(channel: ClientChannel): void {
    const session = this.sessions.get(channel);
    this.sessions.delete(channel);
    session?.close().catch((error: Error) => this.host.report(error));
  }

  async close(): Promise<void> {
    const sessions = [...this.sessions.values()];
    this.sessions.clear();
    await Promise.all([this.pool.close(), ...sessions.map(session => session.close())]);
  }

  private open({ clientCapabilities }: Exchange): BackendConnection {
    const options: GatewayBackend = {
      ...this.options,
      capabilities: askable(clientCapabilities),
      era: 'legacy',
    };
    return new BackendConnection(this.name, options, this.owner, true);
  }

  private get hasRoom(): boolean {
    const own = [...this.sessions.values()].filter(({ hasConnection }) => hasConnection).length;
    return own + this.pool.size < this.host.settings.limits.maxConnections;
  }

  /** Has a session without a request for long give up its connection, for one that has a request. */
  private makeRoom(): boolean {
    const { idleTimeoutMs } = this.host.settings.limits;
    return [...this.sessions.values()].some(session => session.giveUpIfIdle(idleTimeoutMs));
  }
}

/** Callers of whom nothing differs share connections. */
export const callerKey = ({ authInfo, http, clientCapabilities }: Exchange): string =>
  digestOf([callerOf(authInfo, http?.request), askable(clientCapabilities)]);

/** A key of fixed length: what a caller says of itself may be long, and the key is kept. */
const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');
