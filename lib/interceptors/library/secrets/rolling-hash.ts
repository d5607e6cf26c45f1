import { randomInt } from 'node:crypto';

/** Finds where a text may contain strings of one length (Rabin-Karp). A random base defeats crafted texts. */
export class RollingHash {
  private readonly base = randomInt(2 ** 30, 2 ** 31) * 2 + 1;

  of(text: string): number {
    let hash = 0;
    for (let index = 0; index < text.length; index++) hash = this.push(hash, text.charCodeAt(index));
    return hash;
  }

  *search(text: string, length: number, hashes: ReadonlySet<number>): Generator<number> {
    if (text.length < length) return;
    let power = 1;
    for (let count = 1; count < length; count++) power = Math.imul(power, this.base);
    let hash = this.of(text.slice(0, length));
    for (let at = 0; ; at++) {
      if (hashes.has(hash)) yield at;
      if (at + length >= text.length) return;
      const without = (hash - Math.imul(text.charCodeAt(at), power)) | 0;
      hash = this.push(without, text.charCodeAt(at + length));
    }
  }

  private push(hash: number, unit: number): number {
    return (Math.imul(hash, this.base) + unit) | 0;
  }
}
