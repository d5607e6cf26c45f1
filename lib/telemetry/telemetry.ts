import type { ChainReport } from '../interceptors/reports.js';
import type {
  EndedConnection,
  ObserveTurn,
  Observing,
  TrafficListener,
  TrafficPoint,
  TrafficRequest,
} from '../protocol/traffic.js';
import { endingOf, type Ending } from './ending.js';
import { CallLog } from './log/call-log.js';
import type { McpMetrics, OperationKey } from './metrics/mcp-metrics.js';
import { OpenTelemetryMetrics } from './metrics/open-telemetry-metrics.js';
import { SCOPE, type OpenTelemetry } from './open-telemetry.js';
import { KnownNames, subjectOf, type Subject } from './subject.js';
import type { TelemetrySettings } from './telemetry-options.js';
import { addEvents, spanTurns } from './tracing/interceptor-spans.js';
import { Tracing, type Beginning } from './tracing/tracing.js';

/** Passes every request to spans, metrics and the call log. */
export class Telemetry implements TrafficListener {
  readonly turn?: ObserveTurn;
  private readonly tracing?: Tracing;
  private readonly exported?: OpenTelemetryMetrics;
  private readonly log?: CallLog;
  private readonly names = new WeakMap<TrafficPoint, KnownNames>();

  constructor(
    private readonly api: OpenTelemetry | undefined,
    private readonly metrics: McpMetrics,
    private readonly settings: TelemetrySettings,
  ) {
    const { callLog, interceptors } = settings;
    if (callLog !== false) this.log = new CallLog(callLog, settings);
    if (!api) return;
    this.tracing = new Tracing(api, settings);
    this.exported = exportedBy(api, metrics);
    if (interceptors === 'spans') this.turn = spanTurns(api, this.tracing);
  }

  begin(request: TrafficRequest, point: TrafficPoint): Observing {
    const subject = subjectOf(request);
    const span = this.tracing?.begin({ request, point, subject, isKnown: this.isKnown(subject, point) });
    return {
      ...(span && { run: span.run, inject: span.inject }),
      end: (outcome, durationMs) => {
        const ending = endingOf(outcome);
        const result = 'result' in outcome ? outcome.result : undefined;
        if (ending.errorType === undefined) this.learn(subject, point);
        // A caller chooses the name of a tool that does not exist.
        const isKnown = this.isKnown(subject, point);
        span?.end(ending, result, isKnown);
        this.count({ request, point, subject, isKnown }, ending, durationMs);
        if (!this.log || point.side === 'client') return;
        const { name: server } = point;
        this.log.write({ server, request, subject, ending, durationMs, traceId: span?.traceId, result });
      },
    };
  }

  disconnected(connection: EndedConnection, point: TrafficPoint): void {
    this.exported?.disconnected(connection, point);
  }

  endRounds(count: number): void {
    this.metrics.recordRounds(count);
    this.exported?.recordRounds(count);
  }

  mark(): string | undefined {
    return this.tracing?.mark();
  }

  follow(mark: string): void {
    this.tracing?.follow(mark);
  }

  /** Called after each run of a chain. */
  readonly report = (report: ChainReport): void => {
    if (this.api && this.settings.interceptors === 'events') addEvents(this.api, report);
  };

  close(): void {
    this.tracing?.close();
    this.exported?.close();
  }

  private count({ request, point, subject, isKnown }: Beginning, ending: Ending, durationMs: number): void {
    const { method, tool, prompt } = subject;
    const { errorType } = ending;
    const key: OperationKey = {
      side: point.side,
      name: point.name,
      method,
      ...(isKnown && tool !== undefined && { tool }),
      ...(isKnown && prompt !== undefined && { prompt }),
      ...(errorType !== undefined && { errorType }),
    };
    this.metrics.record(key, durationMs);
    this.exported?.record(key, ending, request, point, durationMs);
  }

  private isKnown({ tool, prompt }: Subject, point: TrafficPoint): boolean {
    if (tool !== undefined) return this.namesOf(point).has('tool', tool);
    return prompt !== undefined && this.namesOf(point).has('prompt', prompt);
  }

  private learn({ tool, prompt }: Subject, point: TrafficPoint): void {
    if (tool !== undefined) this.namesOf(point).learn('tool', tool);
    else if (prompt !== undefined) this.namesOf(point).learn('prompt', prompt);
  }

  private namesOf(point: TrafficPoint): KnownNames {
    const known = this.names.get(point);
    if (known) return known;
    const names = new KnownNames(point);
    this.names.set(point, names);
    return names;
  }
}

/** Undefined without a metrics SDK. A meter that was made before the SDK was registered never exports anything. */
const exportedBy = (api: OpenTelemetry, metrics: McpMetrics): OpenTelemetryMetrics | undefined =>
  api.metrics.getMeter(...SCOPE) === api.createNoopMeter()
    ? undefined
    : new OpenTelemetryMetrics(api, metrics);
