// Traces, metrics, health and a call log.
// #region imports
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  TerminusModule,
} from '@nestjs/terminus';
import { McpModule } from 'nestjs-mcp';
import {
  McpHealthIndicator,
  McpMetrics,
  McpTelemetryModule,
} from 'nestjs-mcp/telemetry';
// #endregion imports
import { CatalogTools } from './start/catalog.tools.js';

// #region health
@Controller()
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly mcp: McpHealthIndicator,
  ) {}

  // Terminus would answer 503 while the application shuts down.
  @Get('live')
  live() {
    return this.mcp.liveness();
  }

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.mcp.readiness()]);
  }
}
// #endregion health

// #region metrics
@Injectable()
export class Load {
  constructor(private readonly metrics: McpMetrics) {}

  calls() {
    const { servers } = this.metrics.snapshot();
    return servers['shop'].open['calls'];
  }
}
// #endregion metrics

// #region module
@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpTelemetryModule.forRoot({ callLog: 'log' }),
    TerminusModule,
  ],
  controllers: [HealthController],
  providers: [CatalogTools, Load],
})
export class AppModule {}
// #endregion module
