import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { McpHealthIndicator, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { Guardrails } from './guardrails.js';

@Controller('ready')
class ReadinessController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly mcp: McpHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  ready() {
    return this.health.check([() => this.mcp.readiness()]);
  }
}

@Module({
  imports: [
    McpGatewayModule.forRoot({ backend: { url: process.env.SHOP_URL ?? 'http://127.0.0.1:3001/mcp' } }),
    McpTelemetryModule.forRoot({ interceptors: 'spans' }),
    TerminusModule,
  ],
  controllers: [ReadinessController],
  providers: [Guardrails],
})
export class AppModule {}
