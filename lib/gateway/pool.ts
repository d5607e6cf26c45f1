import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Call } from './call.js';
import type { Link } from './link.js';

interface Pooled {
  readonly link: Link;
  /** Who it is for. */
  readonly key: string;
  /** Whether one call has it to itself. */
  taken: boolean;
  users: number;
  /** Whether it is closed once nobody uses it. */
  isSpent: boolean;
  idle?: NodeJS.Timeout;
}

/** A connection, for a while. */
export interface Lease {
  readonly link: Link;
  /** @param isSpent whether something that the call started may still be under way, and nobody else may have the link */
  release(isSpent: boolean): void;
}

/** The connections to a 2025-era backend for callers who have no session: kept for a while, and bounded in number. */
export class LinkPool {
  private readonly pooled = new Set<Pooled>();

  /**
   * @param hasRoom whether one connection more may be opened
   * @param idleTimeoutMs how long one lives that nobody uses, in milliseconds
   */
  constructor(
    private readonly hasRoom: () => boolean,
    private readonly idleTimeoutMs: number,
  ) {}

  get size(): number {
    return this.pooled.size;
  }

  /**
   * @param key callers with different keys never share a connection
   * @param alone a call that may be asked something, and so has to be the only one on the connection; and the only one that
   *   ever was, but for others of its owner: a question that comes late would be put to somebody else
   * @throws McpException (-32000) where there are too many
   */
  lease(key: string, alone: Call | undefined, open: () => Link): Lease {
    const usable = [...this.pooled].filter(one => one.key === key && !one.isSpent);
    const free = usable.filter(({ taken }) => !taken);
    const found =
      (alone
        ? free.find(({ users, link }) => users === 0 && link.isOf(alone))
        : // What is no call may go beside one.
          (free[0] ?? usable[0])) ?? this.add(key, open);
    clearTimeout(found.idle);
    found.users += 1;
    if (alone) found.taken = true;
    return { link: found.link, release: isSpent => this.release(found, alone !== undefined, isSpent) };
  }

  async close(): Promise<void> {
    await Promise.all([...this.pooled].map(one => this.remove(one)));
  }

  private add(key: string, open: () => Link): Pooled {
    if (!this.hasRoom()) {
      // A connection that nobody uses makes room: the one that was used longest ago.
      const unused = [...this.pooled].find(({ users }) => users === 0);
      if (!unused) throw tooMany();
      void this.remove(unused);
    }
    const pooled: Pooled = { link: open(), key, taken: false, users: 0, isSpent: false };
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
    pooled.idle = setTimeout(() => void this.remove(pooled), this.idleTimeoutMs).unref();
  }

  private async remove(pooled: Pooled): Promise<void> {
    this.pooled.delete(pooled);
    clearTimeout(pooled.idle);
    await pooled.link.close();
  }
}

/** There is no connection left for a call. */
export const tooMany = (): McpException =>
  new McpException(McpErrorCode.Refused, 'The gateway has too many connections open; try again later');
