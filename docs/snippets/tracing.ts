// Registers the OpenTelemetry SDK. `main.ts` imports it first.
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
} from '@opentelemetry/sdk-trace-node';

const exporter = new ConsoleSpanExporter(); // or the exporter of your backend
new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(exporter)],
}).register();
