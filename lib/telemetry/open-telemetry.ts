import type * as api from '@opentelemetry/api';
import type { Meter, Tracer } from '@opentelemetry/api';
import { VERSION } from '../util/version.js';

export type OpenTelemetry = Pick<
  typeof api,
  | 'context'
  | 'createNoopMeter'
  | 'metrics'
  | 'propagation'
  | 'trace'
  | 'INVALID_SPAN_CONTEXT'
  | 'ProxyTracer'
  | 'SpanKind'
  | 'SpanStatusCode'
>;

/** The name and version of the instrumentation. */
export const SCOPE = ['nestjs-mcp', VERSION] as const;

/** Undefined without an SDK for spans. The API then answers with a `ProxyTracer`, which waits for an SDK. */
export function registeredTracer({ trace, ProxyTracer }: OpenTelemetry): Tracer | undefined {
  const tracer = trace.getTracer(...SCOPE);
  return tracer instanceof ProxyTracer ? undefined : tracer;
}

/** Undefined without an SDK for metrics. A meter that was made before the SDK was registered never exports anything. */
export function registeredMeter({ metrics, createNoopMeter }: OpenTelemetry): Meter | undefined {
  const meter = metrics.getMeter(...SCOPE);
  return meter === createNoopMeter() ? undefined : meter;
}

/** Undefined if the package is not installed. Its CommonJS and ESM builds share their state. */
export async function loadOpenTelemetry(): Promise<OpenTelemetry | undefined> {
  try {
    return await import('@opentelemetry/api');
  } catch {
    return undefined;
  }
}
