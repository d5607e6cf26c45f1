import type { McpCall } from './mcp-call.js';
import type { Traffic } from './traffic.js';

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/;

type Traced = Partial<Pick<McpCall, 'meta' | 'http'>>;

/** The ids of a trace that a caller sent, in `_meta` or as a header (W3C Trace Context). */
export function traceOf({ meta, http }: Traced): { traceId: string; spanId: string } | undefined {
  const value = meta?.['traceparent'] ?? http?.headers['traceparent'];
  const [, traceId, spanId] = (typeof value === 'string' && TRACEPARENT.exec(value)) || [];
  return traceId === undefined ? undefined : { traceId, spanId };
}

/** The trace of the span that runs now; without telemetry, the trace that the caller sent. */
export function traceIdOf(call: Traced, traffic?: Pick<Traffic, 'mark'>): string | undefined {
  const mark = traffic?.mark();
  return mark === undefined ? traceOf(call)?.traceId : TRACEPARENT.exec(mark)?.[1];
}
