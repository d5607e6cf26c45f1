import { argumentAt } from './header-params.js';
import type { HeaderParam } from '../protocol/header-param.js';

export type HeaderScalar = string | number | boolean;

const PREFIX = '=?base64?';
const SUFFIX = '?=';
const PLAIN = /^(?![ \t])[\x20-\x7e]*(?<![ \t])$/;
/** Other clients may send a tab. */
const VISIBLE = /^[\t\x20-\x7e]*$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.0+)?$/;

export function isHeaderScalar(value: unknown): value is HeaderScalar {
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
}

/** Whether the integer is too large to be exact: several integers would become the same number. */
export function isInexact(value: HeaderScalar): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/**
 * Encodes a header value: the text itself, or its UTF-8 in Base64 if a header would change it. Specification
 * 2026-07-28: basic/transports/streamable-http, value encoding.
 */
export function encodeHeader(text: string): string {
  // Some readers accept an overlapping prefix and suffix.
  return PLAIN.test(text) && !(text.startsWith(PREFIX) && text.endsWith(SUFFIX))
    ? text
    : `${PREFIX}${Buffer.from(text, 'utf8').toString('base64')}${SUFFIX}`;
}

/** Returns undefined for a malformed header. */
export function decodeHeader(header: string): string | undefined {
  if (!VISIBLE.test(header)) return undefined;
  if (!isWrapped(header)) return header;
  const base64 = header.slice(PREFIX.length, -SUFFIX.length);
  const bytes = Buffer.from(base64, 'base64');
  // Node ignores invalid characters and extra bits, so several headers could mean the same text.
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Whether a header repeats a value. Integers are compared as numbers (`42.0` is 42); an inexact integer never matches.
 */
export function mirrors(text: string, value: HeaderScalar, type: HeaderParam['type']): boolean {
  if (type === 'integer' && Number.isInteger(value)) {
    return !isInexact(value) && DECIMAL.test(text) && Number(text) === value;
  }
  // Half of a surrogate pair has no UTF-8, and is sent as U+FFFD.
  return text === String(value) || text === Buffer.from(String(value), 'utf8').toString('utf8');
}

/** Finds an argument by the name of its header, without case. */
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
