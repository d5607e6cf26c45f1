import { randomBytes } from 'node:crypto';
import type { CallerCounts, CountedLimit } from '../protocol/caller-limit.js';

/** How often the counts of busy callers are compared, in milliseconds. */
const BEAT_MS = 1000;

/** How long a count is valid, and when it is repeated if it has not changed, in milliseconds. */
const TTL_MS = 60_000;
const REPEAT_MS = 20_000;

/** Keeps what each node holds, for all nodes. */
export interface CountStore {
  /**
   * Stores what a node holds under a key for `ttlMs` milliseconds. With a count of 0, the node is forgotten.
   * @returns what the other nodes hold
   */
  exchange(key: string, node: string, count: number, ttlMs: number): Promise<number>;
}

interface Busy {
  /** The most that the caller has held here since the last exchange. */
  peak: number;
  reported: number;
  /** Milliseconds since 1970. */
  comparedAt: number;
  elsewhere: number;
}

/** What the busy callers of a limit hold on all nodes. If the store fails, each node counts alone. */
export class SharedCounts implements CallerCounts {
  private readonly node = randomBytes(4).toString('hex');
  private readonly busy = new Map<string, Busy>();
  private beating?: NodeJS.Timeout;

  constructor(
    private readonly store: CountStore,
    private readonly limit: CountedLimit,
  ) {}

  elsewhere(caller: string): number {
    return this.busy.get(caller)?.elsewhere ?? 0;
  }

  /** The other nodes learn of it with the next beat; at once if they know of less than half of it. */
  note(caller: string, count: number): void {
    const known = this.busy.get(caller);
    if (!known || count >= 2 * known.reported) return void this.compare(caller);
    known.peak = Math.max(known.peak, count);
  }

  refused(caller: string): void {
    const known = this.busy.get(caller);
    if (known) known.comparedAt = 0;
  }

  async compare(caller: string): Promise<void> {
    const known = this.busy.get(caller) ?? { peak: 0, reported: 0, comparedAt: 0, elsewhere: 0 };
    this.busy.set(caller, known);
    this.beating ??= setInterval(() => this.beat(), BEAT_MS).unref();
    known.reported = Math.max(known.peak, this.limit.held(caller));
    known.comparedAt = Date.now();
    known.peak = 0;
    known.elsewhere = await this.exchange(caller, known.reported);
  }

  async close(): Promise<void> {
    clearInterval(this.beating);
    const callers = [...this.busy.keys()];
    this.busy.clear();
    await Promise.all(callers.map(caller => this.exchange(caller, 0)));
  }

  private beat(): void {
    for (const [caller, known] of this.busy) {
      const count = Math.max(known.peak, this.limit.held(caller));
      if (count < this.limit.much) {
        this.busy.delete(caller);
        void this.exchange(caller, 0);
      } else if (count !== known.reported || Date.now() - known.comparedAt >= REPEAT_MS) {
        void this.compare(caller);
      }
    }
    if (this.busy.size > 0) return;
    clearInterval(this.beating);
    this.beating = undefined;
  }

  /** The store logs its failures. */
  private exchange(caller: string, count: number): Promise<number> {
    const { name } = this.limit;
    return this.store.exchange(`${name}:${caller}`, this.node, count, TTL_MS).catch(() => 0);
  }
}
