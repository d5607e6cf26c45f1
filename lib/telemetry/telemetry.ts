import { attempt } from '../protocol/traffic.js';
import type { Outcome } from '../protocol/observation.js';
import type {
  EndedConnection,
  EndedTask,
  ObserveTurn,
  Observing,
  TaskCall,
  TaskObserving,
  TrafficListener,
  TrafficPoint,
  TrafficRequest,
} from '../protocol/traffic-listener.js';
import { countedOf, endingOf } from './ending.js';
import { CallLog } from './log/call-log.js';
import type { McpMetrics } from './metrics/mcp-metrics.js';
import { OpenTelemetryMetrics } from './metrics/open-telemetry-metrics.js';
import type { Operations, OperationKey } from './metrics/operations.js';
import { registeredMeter, registeredTracer, type OpenTelemetry } from './open-telemetry.js';
import { agreedVersion, KnownNames, subjectOf, type Subject } from './subject.js';
import type { TelemetrySettings } from './telemetry-options.js';
import { TaskSpan } from './tracing/task-span.js';
import { turnEvents, turnSpans } from './tracing/interceptor-spans.js';
import { Tracing, type RequestSpan } from './tracing/tracing.js';

interface Place {
  readonly point: TrafficPoint;
  readonly names: KnownNames;
  readonly operations: Operations;
}

/** Passes every request to spans, metrics and the call log. Without an OpenTelemetry SDK, there are no spans. */
export class Telemetry implements TrafficListener {
  readonly turn?: ObserveTurn;
  private readonly tracing?: Tracing;
  private readonly exported?: OpenTelemetryMetrics;
  private readonly log?: CallLog;
  private readonly places = new WeakMap<TrafficPoint, Place>();

  constructor(
    private readonly api: OpenTelemetry | undefined,
    private readonly metrics: McpMetrics,
    private readonly settings: TelemetrySettings,
  ) {
    const { callLog, interceptors } = settings;
    if (callLog !== false) this.log = new CallLog(callLog, settings);
    const meter = api && registeredMeter(api);
    if (meter) this.exported = new OpenTelemetryMetrics(meter, metrics);
    const tracer = api && registeredTracer(api);
    if (!tracer) return;
    this.tracing = new Tracing(api, tracer, settings);
    if (interceptors === 'spans') this.turn = turnSpans(api, this.tracing);
    if (interceptors === 'events') this.turn = turnEvents(api, this.tracing);
  }

  /** Whether an SDK was registered too late, after this object was made, and gets no spans or metrics. */
  get misses(): boolean {
    const { api } = this;
    if (!api) return false;
    return (!this.tracing && !!registeredTracer(api)) || (!this.exported && !!registeredMeter(api));
  }

  begin(request: TrafficRequest, point: TrafficPoint): Observing {
    const subject = subjectOf(request, point);
    const place = this.placeOf(point);
    const isKnown = this.tracing !== undefined && place.names.hasNameOf(subject);
    const { tracing } = this;
    const span = tracing && attempt(() => tracing.begin({ request, point, subject, isKnown }));
    return new ObservedCall(this, request, subject, place, span);
  }

  /** @internal */
  end({ request, subject, place, span }: ObservedCall, outcome: Outcome, durationMs: number): void {
    const ending = endingOf(outcome);
    const { point, names } = place;
    const result = 'result' in outcome ? outcome.result : undefined;
    if (ending.errorType === undefined) names.learn(subject);
    // A caller chooses the name of a tool that does not exist.
    const isKnown = names.hasNameOf(subject);
    if (span) attempt(() => span.end(ending, result, isKnown));
    const counted = countedOf(ending);
    const key: OperationKey = {
      method: subject.method,
      tool: isKnown ? subject.tool : undefined,
      prompt: isKnown ? subject.prompt : undefined,
      errorType: counted.errorType,
    };
    place.operations.record(key, durationMs);
    const { exported } = this;
    const version = agreedVersion(subject, result) ?? request.protocolVersion;
    if (exported) attempt(() => exported.record(key, counted, request, point, durationMs, version));
    if (!this.log || point.side === 'client' || point.isClient) return;
    this.log.write({
      server: point.name,
      request,
      subject,
      ending,
      durationMs,
      traceId: span?.traceId,
      result,
    });
  }

  disconnected(connection: EndedConnection, point: TrafficPoint): void {
    this.exported?.disconnected(connection, point);
  }

  endRounds(count: number): void {
    this.metrics.recordRounds(count);
    this.exported?.recordRounds(count);
  }

  task(call: TaskCall, point: TrafficPoint): TaskObserving | undefined {
    const { api, tracing, settings } = this;
    return api && tracing && new TaskSpan(api, tracing, settings, call, point);
  }

  endTask(task: EndedTask, point: TrafficPoint): void {
    this.metrics.recordTask(task, point);
    this.exported?.recordTask(task, point);
  }

  mark(): string | undefined {
    return this.tracing?.mark();
  }

  follow(mark: string): void {
    this.tracing?.follow(mark);
  }

  close(): void {
    this.tracing?.close();
    this.exported?.close();
  }

  private placeOf(point: TrafficPoint): Place {
    const known = this.places.get(point);
    if (known) return known;
    const place = { point, names: new KnownNames(point), operations: this.metrics.operationsOf(point) };
    this.places.set(point, place);
    return place;
  }
}

/** One request. A class and not closures, because each request makes one. */
class ObservedCall implements Observing {
  readonly run: Observing['run'];
  readonly inject: Observing['inject'];

  constructor(
    private readonly telemetry: Telemetry,
    readonly request: TrafficRequest,
    readonly subject: Subject,
    readonly place: Place,
    readonly span: RequestSpan | undefined,
  ) {
    this.run = span?.run;
    this.inject = place.point.isUntraced ? undefined : span?.inject;
  }

  end(outcome: Outcome, durationMs: number): void {
    this.telemetry.end(this, outcome, durationMs);
  }
}
