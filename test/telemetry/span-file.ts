// Has the process write each span that ends to the file SPANS, with its SERVICE: `node -r ts-hook.cjs app.ts`.
import { appendFileSync, readFileSync } from 'node:fs';
import { SpanKind, type SpanStatus } from '@opentelemetry/api';
import {
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';

/** A span of one of several processes. */
export interface WrittenSpan {
  readonly service: string;
  readonly kind: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: SpanStatus;
  /** The ids of the spans it is linked to. */
  readonly links: readonly string[];
}

class FileExporter implements SpanExporter {
  constructor(
    private readonly file: string,
    private readonly service: string,
  ) {}

  export(spans: ReadableSpan[], done: (result: { code: number }) => void): void {
    for (const span of spans) {
      const written: WrittenSpan = {
        service: this.service,
        kind: SpanKind[span.kind],
        name: span.name,
        traceId: span.spanContext().traceId,
        spanId: span.spanContext().spanId,
        parentId: span.parentSpanContext?.spanId,
        attributes: span.attributes,
        status: span.status,
        links: span.links.map(({ context }) => context.spanId),
      };
      appendFileSync(this.file, `${JSON.stringify(written)}\n`);
    }
    done({ code: 0 });
  }

  async shutdown(): Promise<void> {}
}

export function writeSpans(file: string, service: string): NodeTracerProvider {
  const provider = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(new FileExporter(file, service))],
  });
  provider.register();
  return provider;
}

export const readSpans = (file: string): WrittenSpan[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as WrittenSpan);
