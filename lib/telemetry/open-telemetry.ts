import type * as api from '@opentelemetry/api';

/** The used part of `@opentelemetry/api`. */
export type OpenTelemetry = Pick<
  typeof api,
  'context' | 'createNoopMeter' | 'metrics' | 'propagation' | 'trace' | 'SpanKind' | 'SpanStatusCode'
>;

/** The name and version of the instrumentation. */
export const SCOPE = ['nestjs-mcp', '0.1.0'] as const;

/** Undefined if the package is not installed. Its CommonJS and ESM builds share their state. */
export async function loadOpenTelemetry(): Promise<OpenTelemetry | undefined> {
  try {
    return await import('@opentelemetry/api');
  } catch {
    return undefined;
  }
}
