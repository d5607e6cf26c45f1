import type { Context, Link, Span, SpanContext } from '@opentelemetry/api';
import type { Outcome } from '../../protocol/observation.js';
import type { TaskCall, TaskObserving, TrafficPoint } from '../../protocol/traffic-listener.js';
import { ATTR, OWN } from '../conventions.js';
import { endingOf } from '../ending.js';
import type { OpenTelemetry } from '../open-telemetry.js';
import { hashOf, type Attributes } from '../peer.js';
import { recorded, withoutSecrets } from '../recording.js';
import type { TelemetrySettings } from '../telemetry-options.js';
import { readMark } from './propagation.js';
import type { Tracing } from './tracing.js';

/**
 * The span of a task in this process. It begins a trace of its own, because it may outlive that of its call by hours, and
 * links to the call.
 */
export class TaskSpan implements TaskObserving {
  /** What the span around the handler stands for: that of the call, and from the start of the task on that of the task. */
  private current: Span;
  private readonly context: Context;
  private readonly links: readonly Link[];
  private attributes: Attributes = {};
  private span?: Span;

  constructor(
    private readonly api: OpenTelemetry,
    private readonly tracing: Tracing,
    private readonly settings: Pick<TelemetrySettings, 'recordResults'>,
    private readonly call: TaskCall,
    private readonly point: TrafficPoint,
  ) {
    const { trace, INVALID_SPAN_CONTEXT } = api;
    const ambient = api.context.active();
    const around = trace.getSpan(ambient) ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    const creating = call.mark === undefined ? around.spanContext() : readMark(call.mark);
    this.links = this.linksTo(creating, around.spanContext());
    this.current = around;
    this.context = trace.setSpan(
      ambient,
      standIn(() => this.current),
    );
  }

  run<T>(work: () => T): T {
    return this.api.context.with(this.context, work);
  }

  begin(id: string, run: number): void {
    const { call, point, links, api } = this;
    const { INTERNAL } = api.SpanKind;
    this.attributes = { [ATTR.toolName]: call.tool, [OWN.peer]: point.name, [OWN.taskId]: hashOf(id) };
    const attributes = { ...this.attributes, [OWN.taskRun]: run };
    const options = { kind: INTERNAL, root: true, attributes, links: [...links] };
    this.current = this.span = this.tracing.start(`task ${call.tool}`, options, this.context);
  }

  ask(method: string): (outcome: Outcome) => void {
    const { CLIENT } = this.api.SpanKind;
    const attributes = { ...this.attributes, [ATTR.method]: method };
    const span = this.tracing.start(method, { kind: CLIENT, attributes }, this.context);
    return outcome => this.finish(span, outcome);
  }

  end(outcome: Outcome, status: string | undefined): void {
    const { span } = this;
    if (!span) return;
    this.span = undefined;
    if (status !== undefined) span.setAttribute(OWN.taskStatus, status);
    if (this.settings.recordResults && 'result' in outcome) {
      span.setAttribute(ATTR.toolResult, recorded(outcome.result));
    }
    this.finish(span, outcome);
  }

  private finish(span: Span, outcome: Outcome): void {
    const { errorType, message } = endingOf(outcome);
    if (errorType !== undefined) {
      const { ERROR } = this.api.SpanStatusCode;
      span.setAttribute(ATTR.errorType, errorType);
      span.setStatus({ code: ERROR, ...(message !== undefined && { message: withoutSecrets(message) }) });
    }
    this.tracing.end(span);
  }

  /** The span around a further run, such as that of a queue's job, is a link, too. */
  private linksTo(creating: SpanContext | undefined, around: SpanContext): Link[] {
    const isValid = (context: SpanContext | undefined): context is SpanContext =>
      context !== undefined && this.api.trace.isSpanContextValid(context);
    return [
      ...(isValid(creating) ? [{ context: creating, attributes: { [OWN.link]: 'call' } }] : []),
      ...(isValid(around) && around.spanId !== creating?.spanId ? [{ context: around }] : []),
    ];
  }
}

/** A span that stands for the current one: a handler that already runs cannot get another context. */
function standIn(current: () => Span): Span {
  const standing: Span = new Proxy({} as Span, {
    get(_, name) {
      const span = current();
      const member: unknown = Reflect.get(span, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(member, span, args);
        // A setter returns its span.
        return result === span ? standing : result;
      };
    },
  });
  return standing;
}
