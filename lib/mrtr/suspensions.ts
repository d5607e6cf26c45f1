import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { MrtrSettings } from './mrtr-options.js';

/** Counts the questions that 2025-era clients have not answered yet: each keeps a call in memory. */
export class Suspensions {
  private total = 0;
  private readonly perSession = new Map<unknown, number>();

  constructor(private readonly limits: MrtrSettings['suspension']) {}

  /** How many questions are open. */
  get size(): number {
    return this.total;
  }

  /**
   * Counts a question in until `work` is done.
   * @throws McpException where there are too many
   */
  async during<T>(session: unknown, work: () => Promise<T>): Promise<T> {
    const own = this.perSession.get(session) ?? 0;
    const { maxPerSession, maxTotal } = this.limits;
    if (own >= maxPerSession || this.total >= maxTotal) {
      throw new McpException(McpErrorCode.Refused, 'Too many calls wait for an answer; try again later');
    }
    this.total++;
    this.perSession.set(session, own + 1);
    try {
      return await work();
    } finally {
      this.total--;
      const left = this.perSession.get(session)! - 1;
      if (left === 0) this.perSession.delete(session);
      else this.perSession.set(session, left);
    }
  }
}
