import { createHash } from 'node:crypto';
import type { Journal } from './journal.js';

/** Values that are the same in all rounds of a call if the handler asks for them in the same order. */
export class DeterministicValues {
  readonly times: number[];
  /** Whether the handler used a value derived from the call's id. */
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
    return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  random(): number {
    return this.derive().readUIntBE(0, 6) / 2 ** 48;
  }

  /** @returns a function that repeats the values read since this call */
  mark(): () => void {
    const { timesRead, derived } = this;
    return () => Object.assign(this, { timesRead, derived });
  }

  private derive(): Buffer {
    return createHash('sha256').update(`${this.id}:${this.derived++}`).digest();
  }
}
