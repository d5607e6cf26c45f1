// Traces, metrics, health and a call log.
// #region imports
import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
// #endregion imports
import { Injectable } from '@nestjs/common';
import { McpMetrics } from 'nestjs-mcp/telemetry';
// #region health-imports
import { Controller, Get } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  TerminusModule,
} from '@nestjs/terminus';
import { McpHealthIndicator } from 'nestjs-mcp/telemetry';
// #endregion health-imports
import { CatalogTools } from './start/catalog.tools.js';

// #region module
@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpTelemetryModule.forRoot({ callLog: 'log' }),
  ],
  providers: [CatalogTools],
})
export class AppModule {}
// #endregion module

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

@Module({ imports: [TerminusModule], controllers: [HealthController] })
export class HealthModule {}
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
