import { isDeepStrictEqual } from 'node:util';
import { DIFFERENCES, type Difference } from './differences.js';
import type { Answer, Sent } from './send.js';

/** What two answers to one request differ in. */
export interface Finding {
  /** The session that it is part of. */
  readonly session?: string;
  readonly request: Sent;
  readonly reference: Answer;
  readonly ours: Answer;
}

const UUID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

/** Takes out what is another one each time: references in messages, and sealed states. */
export function normalize(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(UUID, '<uuid>');
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) =>
      key === 'requestState' && typeof member === 'string' ? [key, '<state>'] : [key, normalize(member)],
    ),
  );
}

/** Compares answers, and notes which deliberate differences it has met and what nobody has decided on. */
export class Comparison {
  readonly used = new Set<Difference>();
  readonly findings: Finding[] = [];

  /** @param session the session that the request is part of */
  add(request: Sent, first: Answer, second: Answer, session?: string): void {
    const [reference, ours] = [normalize(first), normalize(second)] as [Answer, Answer];
    if (isDeepStrictEqual(reference, ours)) return;
    const known = DIFFERENCES.find(({ applies }) => applies(request, reference, ours));
    if (known) this.used.add(known);
    else this.findings.push({ session, request, reference, ours });
  }

  /** The rows of the table that no request has met. */
  get unused(): string[] {
    return DIFFERENCES.filter(difference => !this.used.has(difference)).map(({ what }) => what);
  }
}
