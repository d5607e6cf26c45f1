import { LRUCache } from 'lru-cache';

/**
 * Keeps states that are too large for a client, and records used states. All nodes of a server share it. If a method
 * rejects, the call is refused, so it should not wait for long. `contracts.mrtrStore` of `nestjs-mcp/testing` tests an
 * implementation.
 */
export interface MrtrStore {
  /** Keeps a text for `ttlSeconds`. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Returns undefined after the text has expired. */
  get(key: string): Promise<string | undefined>;
  /** Records a key for `ttlSeconds`. Returns true only for the first claim. */
  claim(key: string, ttlSeconds: number): Promise<boolean>;
}

/**
 * A store in memory, for one node and for tests.
 * @example
 * ```ts
 * McpModule.forRoot({ name: 'shop', version: '1.0.0', mrtr: { store: new MemoryMrtrStore(), singleUse: true } });
 * ```
 */
export class MemoryMrtrStore implements MrtrStore {
  private readonly kept: LRUCache<string, string>;

  /** @param maxBytes size of the store. Default: 67,108,864 (64 MiB) */
  constructor(private readonly maxBytes = 67_108_864) {
    this.kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: sizeOf,
      ttl: 1,
      ttlResolution: 0,
      perf: Date,
    });
  }

  get size(): number {
    return this.kept.size;
  }

  /** @throws Error if the store is full */
  async set(key: string, value: string, ttlSeconds: number): Promise<void> {
    this.put(key, value, ttlSeconds);
  }

  async get(key: string): Promise<string | undefined> {
    return this.kept.get(key);
  }

  /** @throws Error if the store is full */
  async claim(key: string, ttlSeconds: number): Promise<boolean> {
    // Synchronous, so that exactly one claim is the first.
    const isFirst = !this.kept.has(key);
    if (isFirst) this.put(key, '', ttlSeconds);
    return isFirst;
  }

  private put(key: string, value: string, ttlSeconds: number): void {
    this.kept.delete(key);
    this.kept.purgeStale();
    // Otherwise the cache would evict entries that are still needed.
    if (this.kept.calculatedSize + sizeOf(value, key) > this.maxBytes) throw new Error('The store is full');
    this.kept.set(key, value, { ttl: ttlSeconds * 1000 });
  }
}

const sizeOf = (value: string, key: string): number => key.length + value.length;
