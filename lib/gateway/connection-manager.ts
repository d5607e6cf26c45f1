import { ProtocolError, type Result } from '@modelcontextprotocol/server';
import type { BackendConnection } from './backend-connection.js';
import type { Call } from './call.js';
import type { GatewayLimits } from './gateway-options.js';
import { shareOf, tooManyConnections } from './limits.js';
import { ConnectionError } from '../connection/connection.js';
import { callerOf } from '../protocol/caller.js';
import type { ClientChannel, McpCall, Params } from '../protocol/mcp-call.js';
import { callerKey } from './caller-params.js';
import { METHODS } from '../protocol/methods.js';
import { SessionConnection } from './session-connection.js';

interface Borrower {
  readonly caller: string;
  /** Borrowers with different keys never share a connection. */
  readonly key: string;
}

interface Pooled extends Borrower {
  readonly connection: BackendConnection;
  taken: boolean;
  users: number;
  isSpent: boolean;
  idle?: NodeJS.Timeout;
}

interface Lease {
  readonly connection: BackendConnection;
  /** @param isSpent whether the backend may still work on the call */
  release(isSpent: boolean): void;
}

type PoolLimits = Pick<Required<GatewayLimits>, 'idleTimeoutMs' | 'maxConnections'>;

/** Connections for callers without a session: kept for a while, and bounded in number. */
export class ConnectionPool {
  private readonly pooled = new Set<Pooled>();

  constructor(
    private readonly hasRoom: () => boolean,
    private readonly limits: PoolLimits,
  ) {}

  get size(): number {
    return this.pooled.size;
  }

  /** @param alone a call that the backend may ask for input: a late input request must not reach another caller */
  lease(borrower: Borrower, alone: Call | undefined, open: () => BackendConnection): Lease {
    const usable = [...this.pooled].filter(one => one.key === borrower.key && !one.isSpent);
    const free = usable.filter(({ taken }) => !taken);
    const found =
      (alone
        ? free.find(({ users, connection }) => users === 0 && connection.isOf(alone))
        : (free[0] ?? usable[0])) ?? this.add(borrower, open);
    clearTimeout(found.idle);
    found.users += 1;
    if (alone) found.taken = true;
    return {
      connection: found.connection,
      release: isSpent => {
        if (alone) found.taken = false;
        this.release(found, isSpent);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.pooled].map(one => this.remove(one)));
  }

  private add(borrower: Borrower, open: () => BackendConnection): Pooled {
    const used = [...this.pooled].filter(({ caller, users }) => caller === borrower.caller && users > 0);
    if (used.length >= shareOf(this.limits.maxConnections)) throw tooManyConnections();
    if (!this.hasRoom()) {
      // The set is ordered by the last release.
      const unused = [...this.pooled].find(({ users }) => users === 0);
      if (!unused) throw tooManyConnections();
      void this.remove(unused);
    }
    const pooled: Pooled = { ...borrower, connection: open(), taken: false, users: 0, isSpent: false };
    this.pooled.add(pooled);
    return pooled;
  }

  private release(pooled: Pooled, isSpent: boolean): void {
    pooled.users -= 1;
    pooled.isSpent ||= isSpent;
    if (pooled.users > 0) return;
    if (pooled.isSpent) return void this.remove(pooled);
    if (!this.pooled.delete(pooled)) return;
    this.pooled.add(pooled);
    pooled.idle = setTimeout(() => void this.remove(pooled), this.limits.idleTimeoutMs).unref();
  }

  private async remove(pooled: Pooled): Promise<void> {
    this.pooled.delete(pooled);
    clearTimeout(pooled.idle);
    await pooled.connection.close();
  }
}

/** The connections to a 2025-era backend: one for each 2025-era session, and a pool for other callers. */
export class ConnectionManager {
  private readonly sessions = new Map<ClientChannel, SessionConnection>();
  private readonly pool: ConnectionPool;

  constructor(
    private readonly limits: PoolLimits,
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
