import { context, metrics, propagation, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** An OpenTelemetry SDK that keeps everything in memory. One for each test file: its API is global. */
export class Recorder {
  private readonly exporter = new InMemorySpanExporter();
  private readonly metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  private readonly reader = new PeriodicExportingMetricReader({
    exporter: this.metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  private readonly open = new OpenSpans();
  private readonly tracing = new BasicTracerProvider({
    spanProcessors: [this.open, new SimpleSpanProcessor(this.exporter)],
  });
  private readonly metering = new MeterProvider({ readers: [this.reader] });
  private readonly contexts = new AsyncLocalStorageContextManager();

  constructor() {
    trace.setGlobalTracerProvider(this.tracing);
    metrics.setGlobalMeterProvider(this.metering);
    context.setGlobalContextManager(this.contexts.enable());
    propagation.setGlobalPropagator(
      new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
    );
  }

  /** Of the application. */
  readonly tracer = this.tracing.getTracer('app');

  get spans(): readonly ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** How many spans have begun and not ended. */
  get openSpans(): number {
    return this.open.spans.size;
  }

  reset(): void {
    this.exporter.reset();
  }

  spansOf(kind: 'SERVER' | 'CLIENT' | 'INTERNAL', name?: string): readonly ReadableSpan[] {
    return this.spans.filter(
      span => span.kind === SpanKind[kind] && (name === undefined || span.name === name),
    );
  }

  /** The one span of a name. */
  span(kind: 'SERVER' | 'CLIENT' | 'INTERNAL', name: string): ReadableSpan {
    const found = this.spansOf(kind, name);
    if (found.length !== 1) {
      const names = this.spans.map(span => `${SpanKind[span.kind]} ${span.name}`).join(', ');
      throw new Error(`There are ${found.length} spans ${kind} ${name}; all spans: ${names}`);
    }
    return found[0];
  }

  async metrics(): Promise<readonly MetricData[]> {
    this.metricExporter.reset();
    await this.reader.forceFlush();
    const last = this.metricExporter.getMetrics().at(-1);
    return last?.scopeMetrics.flatMap(({ metrics: all }) => all) ?? [];
  }

  async metric(name: string): Promise<MetricData | undefined> {
    return (await this.metrics()).find(({ descriptor }) => descriptor.name === name);
  }

  async close(): Promise<void> {
    await Promise.all([this.tracing.shutdown(), this.metering.shutdown()]);
    this.contexts.disable();
    trace.disable();
    metrics.disable();
    context.disable();
    propagation.disable();
  }
}

class OpenSpans implements SpanProcessor {
  readonly spans = new Set<string>();

  onStart(span: Span): void {
    this.spans.add(span.spanContext().spanId);
  }

  onEnd(span: ReadableSpan): void {
    this.spans.delete(span.spanContext().spanId);
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}
