import { Inject, Logger, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { InterceptorReports } from '../interceptors/reports.js';
import { McpCoreModule } from '../mcp-core.module.js';
import { Traffic } from '../protocol/traffic.js';
import { McpHealthIndicator } from './health/mcp-health.indicator.js';
import { McpMetrics } from './metrics/mcp-metrics.js';
import { loadOpenTelemetry, type OpenTelemetry } from './open-telemetry.js';
import {
  resolveTelemetryOptions,
  type McpTelemetryOptions,
  type TelemetrySettings,
} from './telemetry-options.js';
import { Telemetry } from './telemetry.js';

const SETTINGS = 'nestjs-mcp:telemetry-settings';
const OPEN_TELEMETRY = 'nestjs-mcp:open-telemetry';

/**
 * Makes spans and metrics of the application's MCP traffic, and provides `McpMetrics` and `McpHealthIndicator`. Import it once,
 * in any module. Spans and metrics go to the OpenTelemetry SDK that the application registers before it starts.
 */
@Module({})
export class McpTelemetryModule implements OnApplicationShutdown {
  private readonly telemetry: Telemetry;

  /** @internal Nest makes it. */
  constructor(
    @Inject(OPEN_TELEMETRY) api: OpenTelemetry | null,
    @Inject(SETTINGS) settings: TelemetrySettings,
    metrics: McpMetrics,
    traffic: Traffic,
    reports: InterceptorReports,
  ) {
    this.telemetry = new Telemetry(api ?? undefined, metrics, settings);
    traffic.add(this.telemetry);
    reports.listeners.push(this.telemetry.report);
    if (!api) {
      new Logger('McpTelemetry').warn(
        'McpTelemetryModule makes no spans and exports no metrics, because "@opentelemetry/api" is not installed: run npm install @opentelemetry/api',
      );
    }
  }

  /** @throws McpBootstrapError, while the application starts, for an unknown or wrong option */
  static forRoot(options: McpTelemetryOptions = {}): DynamicModule {
    return {
      module: McpTelemetryModule,
      global: true,
      imports: [McpCoreModule],
      providers: [
        { provide: SETTINGS, useFactory: () => resolveTelemetryOptions(options) },
        { provide: OPEN_TELEMETRY, useFactory: async () => (await loadOpenTelemetry()) ?? null },
        McpMetrics,
        McpHealthIndicator,
      ],
      exports: [McpMetrics, McpHealthIndicator],
    };
  }

  /** Runs after the transports have closed. */
  onApplicationShutdown(): void {
    this.telemetry.close();
  }
}
