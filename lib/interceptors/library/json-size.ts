export interface JsonLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly maxNodes: number;
}

export type Excess = keyof JsonLimits;

/** Measures the total size of values as JSON. It does not serialize a value that is already known to be too large. */
export class JsonSize {
  bytes = 0;
  nodes = 0;
  excess: Excess | undefined;
  private units = 0;

  constructor(private readonly limits: JsonLimits) {}

  /** @throws TypeError for a bigint */
  add(given: unknown): this {
    this.walk(given, 0);
    if (this.excess) return this;
    this.bytes += Buffer.byteLength(JSON.stringify(given) ?? '');
    if (this.bytes > this.limits.maxBytes) this.excess = 'maxBytes';
    return this;
  }

  private walk(given: unknown, depth: number): void {
    const { maxBytes, maxDepth, maxNodes } = this.limits;
    const value = jsonValue(given);
    if (++this.nodes > maxNodes) this.excess = 'maxNodes';
    else if (typeof value === 'string') {
      // Every UTF-16 unit takes at least one byte.
      this.units += value.length;
      if (this.units > maxBytes) this.excess = 'maxBytes';
    } else if (typeof value !== 'object' || value === null) return;
    else if (depth >= maxDepth) this.excess = 'maxDepth';
    else {
      for (const item of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
        this.walk(item, depth + 1);
        if (this.excess) return;
      }
    }
  }
}

export const jsonValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
    ? (value.toJSON as () => unknown)()
    : value;
