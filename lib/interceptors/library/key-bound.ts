import { PerInvoker } from './per-invoker.js';
import { invokerOf } from './sessions.js';

/** Admits so many keys at a time, each for as long as it can matter; of each invoker as many. */
export class KeyBound {
  private readonly expiries = new PerInvoker(() => new Map<string, number>());

  constructor(
    private readonly maxKeys: number,
    private readonly lifeMs: number,
    private readonly now: () => number = Date.now,
  ) {}

  admit(key: string): string {
    const now = this.now();
    const expiry = this.expiries.of(key);
    if (!expiry.delete(key) && expiry.size >= this.maxKeys) {
      // In order of use: the first is the one that has been unused for longest.
      const [[oldest, expires]] = expiry;
      const invoker = invokerOf(key);
      if (expires > now) return invoker === undefined ? 'shared' : `shared by ${invoker}`;
      expiry.delete(oldest);
    }
    expiry.set(key, now + this.lifeMs);
    return `key:${key}`;
  }
}
