import {
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { AsyncOptions } from '../options/async-options.js';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { McpServers } from '../module/mcp-servers.js';
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

/** The servers of applications that import the module. */
const OBSERVED = new WeakSet<McpServers>();

/**
 * Makes spans and metrics of the application's MCP traffic, and provides `McpMetrics` and `McpHealthIndicator`. Import it once,
 * in any module. Spans and metrics go to the OpenTelemetry SDK that the application registers before it starts.
 * @example
 * ```ts
 * @Module({ imports: [McpTelemetryModule.forRoot({ callLog: 'log' })] })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpTelemetryModule implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('McpTelemetry');
  private readonly telemetry: Telemetry;

  /** @internal Nest makes it. */
  constructor(
    @Inject(OPEN_TELEMETRY) api: OpenTelemetry | null,
    @Inject(SETTINGS) settings: TelemetrySettings,
    metrics: McpMetrics,
    servers: McpServers,
  ) {
    if (OBSERVED.has(servers)) {
      servers.mistakes.add(
        new McpBootstrapError(
          'McpTelemetryModule',
          'it is imported twice, which would double all spans and numbers; call forRoot once, in any module',
        ),
      );
    }
    OBSERVED.add(servers);
    this.telemetry = new Telemetry(api ?? undefined, metrics, settings);
    servers.observe('McpTelemetryModule', this.telemetry);
    if (!api) {
      this.logger.warn(
        'McpTelemetryModule makes no spans and exports no metrics, because "@opentelemetry/api" is not installed: run npm install @opentelemetry/api',
      );
    }
  }

  /** @throws McpBootstrapError, while the application starts, for an unknown or wrong option, and for a second import */
  static forRoot(options: McpTelemetryOptions = {}): DynamicModule {
    return McpTelemetryModule.forRootAsync({ useFactory: () => options });
  }

  /** Like `forRoot`, with options that a factory makes. */
  static forRootAsync({
    imports = [],
    inject = [],
    useFactory,
  }: AsyncOptions<McpTelemetryOptions>): DynamicModule {
    return {
      module: McpTelemetryModule,
      global: true,
      imports: [McpCoreModule, ...imports],
      providers: [
        {
          provide: SETTINGS,
          inject: [McpServers, ...inject],
          useFactory: async ({ mistakes }: McpServers, ...dependencies: never[]) => {
            const options = await useFactory(...dependencies);
            return mistakes.attempt(() => resolveTelemetryOptions(options)) ?? resolveTelemetryOptions({});
          },
        },
        { provide: OPEN_TELEMETRY, useFactory: async () => (await loadOpenTelemetry()) ?? null },
        McpMetrics,
        McpHealthIndicator,
      ],
      exports: [McpMetrics, McpHealthIndicator],
    };
  }

  onApplicationBootstrap(): void {
    if (!this.telemetry.misses) return;
    this.logger.warn(
      'McpTelemetryModule uses only an OpenTelemetry SDK that is registered when it is made: register the SDK before NestFactory.create',
    );
  }

  /** Runs after the transports have closed. */
  onApplicationShutdown(): void {
    this.telemetry.close();
  }
}
