import { randomInt } from 'node:crypto';

/**
 * Finds where a text may contain one of many strings of one length, in one pass (Rabin and Karp). It never misses one;
 * what it finds has to be looked at. Its base is random, so that nobody can make texts that are found everywhere.
 */
export class RollingHash {
  private readonly base = randomInt(2 ** 30, 2 ** 31) * 2 + 1;

  of(text: string): number {
    let hash = 0;
    for (let index = 0; index < text.length; index++) hash = this.push(hash, text.charCodeAt(index));
    return hash;
  }

  /** Where parts of `length` begin whose hash is one of these. */
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
