import { attempt } from '../../protocol/traffic.js';
import type { EndedTurn, ObserveTurn, Turn } from '../../protocol/traffic-listener.js';
import { OWN } from '../conventions.js';
import type { OpenTelemetry } from '../open-telemetry.js';
import type { Attributes } from '../peer.js';
import type { Tracing } from './tracing.js';

type Message = Parameters<ObserveTurn>[1];

/**
 * Adds an event to the span of the request for each turn of an interceptor, at its end: the span may end before other
 * turns. The interceptors of a client run before the span of its request begins, and get spans.
 */
export function turnEvents(api: OpenTelemetry, tracing: Tracing): ObserveTurn {
  const asSpan = turnSpans(api, tracing);
  return (turn, message) => {
    const span = api.trace.getActiveSpan();
    if (span && !span.isRecording()) return undefined;
    if (!span || !tracing.isOwn(span)) return asSpan(turn, message);
    return {
      run: work => work(),
      end: result => {
        if (!result) return;
        attempt(() =>
          span.addEvent(OWN.interceptorEvent, {
            ...attributesOf(turn, message),
            ...outcomeOf(result),
            [OWN.duration]: result.durationMs / 1000,
          }),
        );
      },
    };
  };
}

export const turnSpans =
  ({ context, trace, SpanKind, SpanStatusCode }: OpenTelemetry, { tracer }: Tracing): ObserveTurn =>
  (turn, message) => {
    const parent = context.active();
    const attributes = attributesOf(turn, message);
    const span = attempt(() =>
      tracer.startSpan(`interceptor ${turn.name}`, { kind: SpanKind.INTERNAL, attributes }, parent),
    );
    if (!span) return undefined;
    const own = trace.setSpan(parent, span);
    return {
      run: work => context.with(own, work),
      end: result =>
        void attempt(() => {
          span.setAttributes(outcomeOf(result));
          if (result?.outcome === 'crash' || result?.outcome === 'timeout') {
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        }),
    };
  };

const attributesOf = ({ name, host, mode }: Turn, { event, phase }: Message): Attributes => ({
  [OWN.interceptor]: name,
  [OWN.host]: host,
  [OWN.event]: event,
  [OWN.phase]: phase,
  [OWN.mode]: mode,
});

const outcomeOf = (result: EndedTurn | undefined): Attributes => ({
  [OWN.outcome]: result?.outcome ?? 'skipped',
  ...(result?.failedOpen && { [OWN.failedOpen]: true }),
});
