import type { BackendConnection } from './backend-connection.js';
import type { Call } from './call.js';
import type { GatewayLimits } from './gateway-options.js';
import { shareOf, tooManyConnections } from './limits.js';

export interface Borrower {
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

export interface Lease {
  readonly connection: BackendConnection;
  /** @param isSpent whether the backend may still work on the call */
  release(isSpent: boolean): void;
}

/** Connections for callers without a session: kept for a while, and bounded in number. */
export class ConnectionPool {
  private readonly pooled = new Set<Pooled>();

  constructor(
    private readonly hasRoom: () => boolean,
    private readonly limits: Pick<Required<GatewayLimits>, 'idleTimeoutMs' | 'maxConnections'>,
  ) {}

  get size(): number {
    return this.pooled.size;
  }

  /** @param alone a call that the backend may ask for input: a late question must not reach another caller */
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
