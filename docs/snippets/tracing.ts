// Registers the OpenTelemetry SDK. `main.ts` imports it first.
import { metrics } from '@opentelemetry/api';
import {
  ConsoleMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
} from '@opentelemetry/sdk-trace-node';

// Console exporters, or the exporters of your backend.
new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new ConsoleSpanExporter())],
}).register();

const reader = new PeriodicExportingMetricReader({
  exporter: new ConsoleMetricExporter(),
});
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
