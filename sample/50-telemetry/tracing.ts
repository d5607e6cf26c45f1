// Registers the OpenTelemetry SDK. An application imports this first, and has an exporter for its own backend.
import { SpanKind } from '@opentelemetry/api';
import {
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';

/** A finished span, as the processes print it. */
export interface PrintedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  /** Kind and name. */
  readonly name: string;
  readonly links: readonly string[];
}

class LineExporter implements SpanExporter {
  export(spans: ReadableSpan[], done: (result: { code: number }) => void): void {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext();
      const printed: PrintedSpan = {
        traceId,
        spanId,
        parentId: span.parentSpanContext?.spanId,
        name: `${SpanKind[span.kind].toLowerCase()} ${span.name}`,
        links: span.links.map(({ context }) => context.spanId),
      };
      console.log(`span ${JSON.stringify(printed)}`);
    }
    done({ code: 0 });
  }

  async shutdown(): Promise<void> {}
}

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new LineExporter())] }).register();
