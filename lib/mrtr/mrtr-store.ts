/** Keeps what is too large to travel with a client, and notes what was used; shared by all nodes that serve a client. */
export interface MrtrStore {
  /** Keeps a text under a key for so long. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** What is kept under a key; undefined once its time is over. */
  get(key: string): Promise<string | undefined>;
  /** Notes a key for so long. True for the first who does, false for everybody after. */
  claim(key: string, ttlSeconds: number): Promise<boolean>;
}

interface Kept {
  readonly value: string;
  readonly until: number;
}

/** A store in this process's memory: for one node, and for tests. What was kept longest goes first where it is full. */
export class MemoryMrtrStore implements MrtrStore {
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  /** @param maxBytes the most that is kept. Default: 64 MiB (67,108,864) */
  constructor(private readonly maxBytes = 67_108_864) {}

  /** How many keys are kept. */
  get size(): number {
    return this.kept.size;
  }

  set(key: string, value: string, ttlSeconds: number): Promise<void> {
    this.put(key, value, ttlSeconds);
    return Promise.resolve();
  }

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.read(key));
  }

  claim(key: string, ttlSeconds: number): Promise<boolean> {
    if (this.read(key) !== undefined) return Promise.resolve(false);
    this.put(key, '', ttlSeconds);
    return Promise.resolve(true);
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
    this.kept.set(key, kept);
    this.bytes += sizeOf(key, kept);
    for (const [oldest, { value: text, until }] of this.kept) {
      if (this.bytes <= this.maxBytes && until > Date.now()) break;
      this.drop(oldest, { value: text, until });
    }
  }

  private drop(key: string, kept: Kept): void {
    this.kept.delete(key);
    this.bytes -= sizeOf(key, kept);
  }
}

const sizeOf = (key: string, { value }: Kept): number => key.length + value.length;
