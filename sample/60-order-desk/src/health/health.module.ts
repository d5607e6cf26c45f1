import { Controller, Get, Module, Req, Res, ServiceUnavailableException } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { McpHealthIndicator, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { prometheus } from '../telemetry.js';

/** What operators ask. A load balancer must not hand it to the public. */
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly mcp: McpHealthIndicator) {}

  @Get('health/live')
  live() {
    return this.mcp.liveness();
  }

  /** An outage of Redis must not take out all nodes. */
  @Get('health/ready')
  async ready() {
    const health = await this.mcp.readiness('mcp', { dependencies: false });
    if (health.mcp.status === 'down') throw new ServiceUnavailableException(health);
    return health;
  }

  @Get('metrics')
  metrics(@Req() request: Request, @Res() response: Response) {
    prometheus.getMetricsRequestHandler(request, response);
  }
}

@Module({ imports: [McpTelemetryModule.forRoot()], controllers: [HealthController] })
export class HealthModule {}
