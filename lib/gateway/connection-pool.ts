import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Call } from './call.js';
import type { GatewayLimits } from './gateway-options.js';
import type { BackendConnection } from './backend-connection.js';

/** Who a connection is for. */
export interface Borrower {
  readonly caller: string;
  /** Those with different keys never share a connection. */
  readonly key: string;
}

interface Pooled extends Borrower {
  readonly connection: BackendConnection;
  /** Whether one call has it to itself. */
  taken: boolean;
  users: number;
  /** Whether it is closed once nobody uses it. */
  isSpent: boolean;
  idle?: NodeJS.Timeout;
}

/** A connection, for a while. */
export interface Lease {
  readonly connection: BackendConnection;
  /** @param isSpent whether something that the call started may still be under way, and nobody else may have the connection */
  release(isSpent: boolean): void;
}

/** The connections to a 2025-era backend for callers who have no session: kept for a while, and bounded in number. */
export class ConnectionPool {
  private readonly pooled = new Set<Pooled>();

  /**
   * @param hasRoom whether one connection more may be opened
   * @param limits how long one lives that nobody uses, and how many there are for all
   */
  constructor(
    private readonly hasRoom: () => boolean,
    private readonly limits: Pick<Required<GatewayLimits>, 'idleTimeoutMs' | 'maxConnections'>,
  ) {}

  get size(): number {
    return this.pooled.size;
  }

  /**
   * @param alone a call that may be asked something, and so has to be the only one on the connection; and the only one that
   *   ever was, but for others of its owner: a question that comes late would be put to somebody else
   * @throws McpException (-32000) where there are too many
   */
  lease(borrower: Borrower, alone: Call | undefined, open: () => BackendConnection): Lease {
    const usable = [...this.pooled].filter(one => one.key === borrower.key && !one.isSpent);
    const free = usable.filter(({ taken }) => !taken);
    const found =
      (alone
        ? free.find(({ users, connection }) => users === 0 && connection.isOf(alone))
        : // What is no call may go beside one.
          (free[0] ?? usable[0])) ?? this.add(borrower, open);
    clearTimeout(found.idle);
    found.users += 1;
    if (alone) found.taken = true;
    return {
      connection: found.connection,
      release: isSpent => this.release(found, alone !== undefined, isSpent),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.pooled].map(one => this.remove(one)));
  }

  private add(borrower: Borrower, open: () => BackendConnection): Pooled {
    const used = [...this.pooled].filter(({ caller, users }) => caller === borrower.caller && users > 0);
    if (used.length >= shareOf(this.limits.maxConnections)) throw tooMany();
    if (!this.hasRoom()) {
      // A connection that nobody uses makes room: the one that was used longest ago.
      const unused = [...this.pooled].find(({ users }) => users === 0);
      if (!unused) throw tooMany();
      void this.remove(unused);
    }
    const pooled: Pooled = { ...borrower, connection: open(), taken: false, users: 0, isSpent: false };
    this.pooled.add(pooled);
    return pooled;
  }

  private release(pooled: Pooled, alone: boolean, isSpent: boolean): void {
    pooled.users -= 1;
    pooled.isSpent ||= isSpent;
    if (alone) pooled.taken = false;
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

/** How much of something bounded one caller may take, so that there is some left for others. */
export const shareOf = (max: number): number => Math.ceil(max * 0.75);

/** There is no connection left for a call. */
export const tooMany = (): McpException =>
  new McpException(McpErrorCode.Refused, 'The gateway has too many connections open; try again later');
