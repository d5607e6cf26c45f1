/** The key that all share for which there is no room. */
const SHARED = 'shared';

/** Admits so many keys at a time, each for as long as it can matter. */
export class KeyBound {
  private readonly expiry = new Map<string, number>();

  constructor(
    private readonly maxKeys: number,
    private readonly lifeMs: number,
    private readonly now: () => number = Date.now,
  ) {}

  /** The key to count by: itself, or one that it shares. */
  admit(key: string): string {
    const now = this.now();
    if (!this.expiry.delete(key) && this.expiry.size >= this.maxKeys) {
      // In order of use: the first is the one that has been unused for longest.
      const [[oldest, expires]] = this.expiry;
      if (expires > now) return SHARED;
      this.expiry.delete(oldest);
    }
    this.expiry.set(key, now + this.lifeMs);
    return `key:${key}`;
  }
}
