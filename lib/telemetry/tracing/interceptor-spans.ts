import type { EntryResult } from '../../interceptors/chain/result.js';
import type { ChainReport } from '../../interceptors/reports.js';
import { attempt, type Turn, type TurnObserving } from '../../protocol/traffic.js';
import { OWN } from '../conventions.js';
import type { OpenTelemetry } from '../open-telemetry.js';
import type { Attributes } from '../peer.js';
import type { Tracing } from './tracing.js';

/** Adds an event to the present span for each interceptor that ran. */
export function addEvents({ trace }: OpenTelemetry, { result }: ChainReport): void {
  const span = trace.getActiveSpan();
  if (!span?.isRecording()) return;
  for (const entry of result.results) span.addEvent(OWN.interceptorEvent, eventOf(entry, result.event));
}

function eventOf(
  { interceptor, host, phase, mode, outcome, durationMs, failedOpen }: EntryResult,
  event: string,
): Attributes {
  return {
    [OWN.interceptor]: interceptor,
    [OWN.host]: host,
    [OWN.event]: event,
    [OWN.phase]: phase,
    [OWN.mode]: mode ?? 'active',
    [OWN.outcome]: outcome,
    [OWN.duration]: durationMs / 1000,
    ...(failedOpen && { [OWN.failedOpen]: true }),
  };
}

/** Makes a child span for each turn of an interceptor. */
export const spanTurns =
  ({ context, trace, SpanKind, SpanStatusCode }: OpenTelemetry, { tracer }: Tracing) =>
  (
    { name, host, mode }: Turn,
    { event, phase }: { event: string; phase: string },
  ): TurnObserving | undefined => {
    const parent = context.active();
    const attributes = {
      [OWN.interceptor]: name,
      [OWN.host]: host,
      [OWN.event]: event,
      [OWN.phase]: phase,
      [OWN.mode]: mode,
    };
    const span = attempt(() =>
      tracer.startSpan(`interceptor ${name}`, { kind: SpanKind.INTERNAL, attributes }, parent),
    );
    if (!span) return undefined;
    const own = trace.setSpan(parent, span);
    return {
      run: work => context.with(own, work),
      end: result =>
        void attempt(() => {
          span.setAttribute(OWN.outcome, result?.outcome ?? 'skipped');
          if (result?.outcome === 'crash' || result?.outcome === 'timeout') {
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        }),
    };
  };
