import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Link } from './link.js';

interface Pooled {
  readonly link: Link;
  /** Who it is for. */
  readonly key: string;
  /** Whether one call has it to itself. */
  taken: boolean;
  users: number;
  idle?: NodeJS.Timeout;
}

/** A connection, for a while. */
export interface Lease {
  readonly link: Link;
  release(): void;
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
   * @param alone whether the call may be asked something, and so has to be the only one on the connection
   * @throws McpException (-32000) where there are too many
   */
  lease(key: string, alone: boolean, open: () => Link): Lease {
    const found =
      [...this.pooled].find(one => one.key === key && !one.taken && (!alone || one.users === 0)) ??
      // What is no call may go beside one.
      (alone ? undefined : [...this.pooled].find(one => one.key === key)) ??
      this.add(key, open);
    clearTimeout(found.idle);
    found.users += 1;
    if (alone) found.taken = true;
    return { link: found.link, release: () => this.release(found, alone) };
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
    const pooled: Pooled = { link: open(), key, taken: false, users: 0 };
    this.pooled.add(pooled);
    return pooled;
  }

  private release(pooled: Pooled, alone: boolean): void {
    pooled.users -= 1;
    if (alone) pooled.taken = false;
    if (pooled.users > 0 || !this.pooled.delete(pooled)) return;
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
