import { ANYTHING } from './cases/request.js';
import { isRecord } from './reading.js';
import type { Sequence, Step } from './play.js';
import type { Sent } from './send.js';

type Random = () => number;

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)];

const HEADER_VALUES = [
  '',
  'x',
  '2026-07-28',
  '2025-11-25',
  'tools/call',
  'tools/list',
  'echo',
  '=?base64?ZWNobw==?=',
];

/** Every object and list in a value. */
const containersOf = (value: unknown): (Record<string, unknown> | unknown[])[] =>
  typeof value !== 'object' || value === null
    ? []
    : [value as Record<string, unknown>, ...Object.values(value).flatMap(containersOf)];

/** Changes one member somewhere in a body: takes it out, copies it, gives it another value, or one of another body. */
function mutateBody(random: Random, body: unknown, other: unknown): unknown {
  const copy = structuredClone(body);
  const containers = containersOf(copy).filter(container => Object.keys(container).length > 0);
  if (containers.length === 0) return pick(random, ANYTHING);
  const container = pick(random, containers) as Record<string, unknown>;
  const key = pick(random, Object.keys(container));
  const step = random();
  if (step < 0.25) {
    if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
  } else if (step < 0.35) {
    if (Array.isArray(container)) container.push(container[0]);
    else container[pick(random, Object.keys(container))] = container[key];
  } else if (step < 0.8) {
    container[key] = pick(random, ANYTHING);
  } else {
    const foreign = pick(random, [...containersOf(other), {}]) as Record<string, unknown>;
    container[key] = foreign[key] ?? pick(random, [...Object.values(foreign), null]);
  }
  return copy;
}

/** Changes one header: takes it out, gives it another value, or that of another request. */
function mutateHeaders(random: Random, headers: Sent['headers'], other: Sent['headers']): Sent['headers'] {
  const { ...copy } = headers as Record<string, string | readonly string[]>;
  const name = pick(random, [...Object.keys(copy), ...Object.keys(other), 'mcp-protocol-version']);
  const step = random();
  const value = [copy[name] ?? 'x'].flat()[0];
  if (step < 0.3) delete copy[name];
  else if (step < 0.5) copy[name] = pick(random, HEADER_VALUES);
  else if (step < 0.6) copy[name] = value.toUpperCase();
  else if (step < 0.7) copy[name] = [value, pick(random, HEADER_VALUES)];
  else copy[name] = other[name] ?? pick(random, HEADER_VALUES);
  return copy;
}

function mutateOnce(random: Random, request: Sent, other: Sent): Sent {
  const { body } = request;
  const step = random();
  if (body === undefined || step < 0.3)
    return { ...request, headers: mutateHeaders(random, request.headers, other.headers) };
  if (step < 0.32) return { ...request, body: body.slice(0, Math.floor(random() * body.length)) };
  const json = parsed(body);
  return { ...request, body: JSON.stringify(mutateBody(random, json, parsed(other.body ?? ''))) };
}

/** As many requests as wanted, each of them changed in one to three places; the same for a seed. */
export function* mutations(corpus: readonly Sent[], count: number, seed: number): Generator<Sent> {
  const random = randomOf(seed);
  for (let made = 0; made < count; made += 1) {
    let request = pick(random, corpus);
    for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes -= 1) {
      request = mutateOnce(random, request, pick(random, corpus));
    }
    if (!mayHang(request)) yield request;
    else made -= 1;
  }
}

/** A call that waits to be cancelled, and a batch in which one message cancels another, are never answered. */
function mayHang({ body = '' }: Sent): boolean {
  const json = parsed(body);
  if (Array.isArray(json) && body.includes('notifications/cancelled')) return true;
  return body.includes('"wait"') && (isRecord(json) || Array.isArray(json));
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return {};
  }
}

/** As many sessions as wanted, of some steps each of which is changed; the same for a seed. */
export function* mutatedSessions(
  steps: readonly Step[],
  initialize: Sent,
  count: number,
  seed: number,
): Generator<Sequence> {
  const changed = mutations(steps, count * STEPS, seed);
  for (let made = 0; made < count; made += 1) {
    const own = Array.from({ length: STEPS }, () => changed.next().value as Sent);
    yield { name: `changed ${made} of seed ${seed}`, initialize, steps: own };
  }
}

const STEPS = 8;
