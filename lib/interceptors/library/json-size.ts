export interface JsonLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly maxNodes: number;
}

export type Excess = keyof JsonLimits;

export class JsonSize {
  bytes = 0;
  nodes = 0;
  excess: Excess | undefined;

  constructor(private readonly limits: JsonLimits) {}

  /** @throws TypeError for a bigint */
  add(given: unknown, depth = 0): this {
    if (this.excess) return this;
    const value = jsonValue(given);
    if (++this.nodes > this.limits.maxNodes) return this.exceed('maxNodes');
    if (typeof value === 'string') return this.count(this.stringBytes(value));
    if (typeof value !== 'object' || value === null) return this.count(scalarBytes(value));
    if (depth >= this.limits.maxDepth) return this.exceed('maxDepth');
    this.count(2);
    return Array.isArray(value) ? this.addList(value, depth) : this.addRecord(value, depth);
  }

  private addList(list: readonly unknown[], depth: number): this {
    this.count(Math.max(0, list.length - 1));
    for (let index = 0; index < list.length && !this.excess; index++) {
      this.add(isWritten(list[index]) ? list[index] : null, depth + 1);
    }
    return this;
  }

  private addRecord(record: object, depth: number): this {
    let count = 0;
    for (const [key, value] of Object.entries(record)) {
      if (this.excess) break;
      if (!isWritten(jsonValue(value))) continue;
      this.count(this.stringBytes(key) + (count++ === 0 ? 1 : 2));
      this.add(value, depth + 1);
    }
    return this;
  }

  private count(bytes: number): this {
    this.bytes += bytes;
    return this.bytes > this.limits.maxBytes ? this.exceed('maxBytes') : this;
  }

  private exceed(limit: Excess): this {
    this.excess ??= limit;
    return this;
  }

  /** Every UTF-16 unit takes a byte at least, so that a text that is far too long is not read. */
  private stringBytes(text: string): number {
    return this.bytes + text.length > this.limits.maxBytes ? text.length + 2 : quotedBytes(text);
  }
}

function quotedBytes(text: string): number {
  let bytes = 2;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20) bytes += unit >= 8 && unit <= 13 && unit !== 11 ? 2 : 6;
    else if (unit === 0x22 || unit === 0x5c) bytes += 2;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3;
    else if (unit < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      bytes += 4;
      index++;
    } else bytes += 6; // A lone surrogate is written as an escape.
  }
  return bytes;
}

function scalarBytes(value: unknown): number {
  if (typeof value === 'bigint') throw new TypeError('a bigint cannot be written as JSON');
  if (!isWritten(value)) return 0;
  return typeof value === 'number' && !Number.isFinite(value) ? 4 : String(value).length;
}

const isWritten = (value: unknown): boolean =>
  value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';

export const jsonValue = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
    ? (value.toJSON as () => unknown)()
    : value;
