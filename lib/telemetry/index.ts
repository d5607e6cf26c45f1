export { McpTelemetryModule } from './mcp-telemetry.module.js';
export type { McpTelemetryOptions } from './telemetry-options.js';
export { McpHealthIndicator, type McpHealth } from './health/mcp-health.indicator.js';
export { McpMetrics, type McpMetricsSnapshot } from './metrics/mcp-metrics.js';
