import type * as api from '@opentelemetry/api';

/** `@opentelemetry/api`, as far as it is used. */
export type OpenTelemetry = Pick<
  typeof api,
  'context' | 'metrics' | 'propagation' | 'trace' | 'SpanKind' | 'SpanStatusCode'
>;

/** The name and version of the instrumentation. */
export const SCOPE = ['nestjs-mcp', '0.1.0'] as const;

/** Undefined if the package is not installed. Both of its builds share one state, whichever loads. */
export async function loadOpenTelemetry(): Promise<OpenTelemetry | undefined> {
  try {
    return await import('@opentelemetry/api');
  } catch {
    return undefined;
  }
}
