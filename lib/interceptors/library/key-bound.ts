import { isInvoked } from './sessions.js';

type Expiry = Map<string, number>;

/**
 * Admits so many keys at a time, each for as long as it can matter, and as many of what others invoke: they make up who
 * calls, and must not take up the application's own room.
 */
export class KeyBound {
  private readonly own: Expiry = new Map();
  private readonly invoked: Expiry = new Map();

  constructor(
    private readonly maxKeys: number,
    private readonly lifeMs: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** The key to count by: itself, or one that it shares. */
  admit(key: string): string {
    const now = this.now();
    const [expiry, shared] = isInvoked(key) ? [this.invoked, 'shared by invokers'] : [this.own, 'shared'];
    if (!expiry.delete(key) && expiry.size >= this.maxKeys) {
      // In order of use: the first is the one that has been unused for longest.
      const [[oldest, expires]] = expiry;
      if (expires > now) return shared;
      expiry.delete(oldest);
    }
    expiry.set(key, now + this.lifeMs);
    return `key:${key}`;
  }
}
