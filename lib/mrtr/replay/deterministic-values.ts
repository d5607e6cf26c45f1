import { createHash } from 'node:crypto';
import type { Journal } from './journal.js';

/** What comes out the same in all rounds of a call, by the order in which it is asked for. */
export class DeterministicValues {
  /** What was read of the clock, in order. */
  readonly times: number[];
  /** Whether anything that follows from the call's id was used. */
  isIdUsed: boolean;
  private timesRead = 0;
  private derived = 0;
  private readonly callId: string;

  constructor({ id, times, isIdUsed = false }: Journal) {
    this.callId = id;
    this.times = [...times];
    this.isIdUsed = isIdUsed;
  }

  get id(): string {
    this.isIdUsed = true;
    return this.callId;
  }

  now(): number {
    const index = this.timesRead++;
    return (this.times[index] ??= Date.now());
  }

  uuid(): string {
    const bytes = this.derive();
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
      '-',
    );
  }

  random(): number {
    return this.derive().readUIntBE(0, 6) / 2 ** 48;
  }

  /** @returns has what comes after this come out once more */
  mark(): () => void {
    const { timesRead, derived } = this;
    return () => Object.assign(this, { timesRead, derived });
  }

  private derive(): Buffer {
    return createHash('sha256').update(`${this.id}:${this.derived++}`).digest();
  }
}
