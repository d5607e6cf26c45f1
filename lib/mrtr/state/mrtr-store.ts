/** Keeps states that are too large for a client, and notes used ones. All nodes of a server share it. */
export interface MrtrStore {
  /** Keeps a text for so many seconds. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Undefined after the time is over. */
  get(key: string): Promise<string | undefined>;
  /** Notes a key for so many seconds. Returns true only for the first claim. */
  claim(key: string, ttlSeconds: number): Promise<boolean>;
}

interface Kept {
  readonly value: string;
  readonly until: number;
}

/** A store in memory, for one node and for tests. */
export class MemoryMrtrStore implements MrtrStore {
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  /** @param maxBytes size of the store. Default: 67,108,864 (64 MiB) */
  constructor(private readonly maxBytes = 67_108_864) {}

  get size(): number {
    return this.kept.size;
  }

  /** @throws Error if the store is full */
  set(key: string, value: string, ttlSeconds: number): Promise<void> {
    return new Promise(resolve => resolve(this.put(key, value, ttlSeconds)));
  }

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.read(key));
  }

  /** @throws Error if the store is full */
  claim(key: string, ttlSeconds: number): Promise<boolean> {
    // Synchronous, so that only one claim is the first.
    return new Promise(resolve => {
      const isFirst = this.read(key) === undefined;
      if (isFirst) this.put(key, '', ttlSeconds);
      resolve(isFirst);
    });
  }

  private read(key: string): string | undefined {
    const kept = this.kept.get(key);
    if (kept === undefined || kept.until > Date.now()) return kept?.value;
    this.drop(key, kept);
    return undefined;
  }

  private put(key: string, value: string, ttlSeconds: number): void {
    const before = this.kept.get(key);
    if (before) this.drop(key, before);
    const kept = { value, until: Date.now() + ttlSeconds * 1000 };
    for (const [oldest, item] of this.kept) {
      if (item.until > Date.now()) break;
      this.drop(oldest, item);
    }
    if (this.bytes + sizeOf(key, kept) > this.maxBytes) throw new Error('The store is full');
    this.kept.set(key, kept);
    this.bytes += sizeOf(key, kept);
  }

  private drop(key: string, kept: Kept): void {
    this.kept.delete(key);
    this.bytes -= sizeOf(key, kept);
  }
}

const sizeOf = (key: string, { value }: Kept): number => key.length + value.length;
