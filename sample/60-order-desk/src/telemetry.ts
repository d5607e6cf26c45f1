// Starts the OpenTelemetry SDK. `main.ts` imports it before anything else.
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { NodeSDK } from '@opentelemetry/sdk-node';

/** Answers `/metrics`; the application has its own server. */
export const prometheus = new PrometheusExporter({ preventServerStart: true });

const isExported = process.env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;

new NodeSDK({
  serviceName: 'order-desk',
  metricReaders: [prometheus],
  ...(isExported ? { traceExporter: new OTLPTraceExporter() } : { spanProcessors: [] }),
}).start();
