import { isRecord } from '../../util/is-record.js';
import { jsonIn } from '../../util/json-in.js';
import type { Era } from '../api.js';

export type Json = Readonly<Record<string, unknown>>;

export { isRecord, jsonIn };

export const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Nested deeper than this, JSON is not indented: the spaces would soon be most of it. */
const MAX_INDENTED = 50;

const isDeep = (value: unknown, depth = 0): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === MAX_INDENTED || Object.values(value).some(member => isDeep(member, depth + 1)));

export const pretty = (value: unknown): string =>
  JSON.stringify(value, null, isDeep(value) ? 0 : 2) ?? 'undefined';

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function ms(duration: number | undefined): string {
  if (duration === undefined) return '–';
  if (duration < 1) return `${Math.ceil(duration * 1000)} µs`;
  return `${duration < 100 ? Number(duration.toPrecision(2)) : Math.round(duration)} ms`;
}

/** The id of an interceptor, without the host if it is this process. */
export const shortId = (id: string): string => id.replace(/^local\//, '');

/** A condition of an interceptor as people say it: `name is search`. Others stay as they are. */
export function conditionText(condition: string): string {
  const wanted = jsonIn(condition);
  if (!isRecord(wanted)) return condition;
  const parts = Object.entries(wanted).map(([key, value]) => [key, isList(value) ? value : [value]] as const);
  const isPlain = parts.every(([, values]) => values.every(one => typeof one === 'string'));
  return isPlain ? parts.map(([key, values]) => `${key} is ${values.join(' or ')}`).join(' and ') : condition;
}

/** A long duration in its two largest units: `3 min 5 s`. */
export function span(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** The colour of a task's status. */
export const statusKind = (status: string): string =>
  ({ completed: 'pass', failed: 'deny', cancelled: 'deny', input_required: 'warn' })[status] ?? '';

export const plural = (number: number, one: string, many: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

export const count = (number: number, noun: string): string => plural(number, noun, `${noun}s`);

/** The revisions of an era, as people read them. */
export const revisionsOf = (era: Era): string => (era === 'modern' ? '2026-07-28' : '2025-11-25 and earlier');

/** An ISO 8601 time in the time zone of the browser. */
export function localTime(at: string): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB');
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${date.toLocaleDateString('en-CA')} ${time}`;
}
