import { argumentAt, type HeaderParam } from './header-params.js';

export type HeaderScalar = string | number | boolean;

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const PLAIN = /^(?![ \t])[\x20-\x7e]*(?<![ \t])$/;
/** What may stand in a header at all: a tab is no reason to refuse what another client has sent. */
const VISIBLE = /^[\t\x20-\x7e]*$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.0+)?$/;

export function isHeaderScalar(value: unknown): value is HeaderScalar {
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
}

/** Whether a number is an integer of which nobody can tell which one was meant. */
export function isInexact(value: HeaderScalar): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/**
 * A text as it stands in a header: as it is, or its UTF-8 in Base64 where a header would not keep it as it is.
 * Specification 2026-07-28: basic/transports/streamable-http, value encoding.
 */
export function encodeHeader(text: string): string {
  // Others take for wrapped what has the prefix and the suffix, even where the two overlap.
  return PLAIN.test(text) && !(text.startsWith(PREFIX) && text.endsWith(SUFFIX))
    ? text
    : `${PREFIX}${Buffer.from(text, 'utf8').toString('base64')}${SUFFIX}`;
}

/** The text that a header stands for; undefined where it is malformed. */
export function decodeHeader(header: string): string | undefined {
  if (!VISIBLE.test(header)) return undefined;
  if (!isWrapped(header)) return header;
  const base64 = header.slice(PREFIX.length, -SUFFIX.length);
  const bytes = Buffer.from(base64, 'base64');
  // Node ignores what is no Base64, and bits that are left over: another header could stand for the same text.
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Whether the text of a header is that of an argument. Integers are compared as numbers, for `42.0` is 42; one that is
 * inexact is like no other.
 */
export function mirrors(text: string, value: HeaderScalar, type: HeaderParam['type']): boolean {
  if (type === 'integer' && Number.isInteger(value)) {
    return !isInexact(value) && DECIMAL.test(text) && Number(text) === value;
  }
  // Half a surrogate pair has no UTF-8, and is sent as U+FFFD.
  return text === String(value) || text === Buffer.from(String(value), 'utf8').toString('utf8');
}

/** The argument that a header repeats, by the header's name without case; undefined for what no header can hold. */
export function headerArgument(
  params: readonly HeaderParam[],
  name: string,
  args: unknown,
): HeaderScalar | undefined {
  const param = params.find(one => one.name.toLowerCase() === name.toLowerCase());
  const value = param && argumentAt(args, param);
  return isHeaderScalar(value) ? value : undefined;
}

const isWrapped = (text: string): boolean =>
  text.length >= PREFIX.length + SUFFIX.length && text.startsWith(PREFIX) && text.endsWith(SUFFIX);
