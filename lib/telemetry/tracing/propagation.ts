import type { SpanContext, TextMapGetter, TextMapSetter } from '@opentelemetry/api';

/** Most characters of a value in a client's message. The W3C allows 8,192 for baggage. */
const MAX_LENGTH = 8192;

/** Reads the trace keys of a message's `_meta` (SEP-414). It ignores values that are not texts, or too long. */
export const META_GETTER: TextMapGetter<Readonly<Record<string, unknown>>> = {
  keys: meta => Object.keys(meta),
  get: (meta, key) => {
    const value = Object.hasOwn(meta, key) ? meta[key] : undefined;
    return typeof value === 'string' && value.length <= MAX_LENGTH ? value : undefined;
  },
};

export const META_SETTER: TextMapSetter<Record<string, unknown>> = {
  set: (meta, key, value) => {
    meta[key] = value;
  },
};

const MARK = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;

export const writeMark = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

export function readMark(mark: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = MARK.exec(mark) ?? [];
  if (traceId === undefined) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}
