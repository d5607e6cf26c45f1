// An application of the shape that deploy/Dockerfile expects.
import 'reflect-metadata';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { McpHealthIndicator, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { getuid } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

@Injectable()
class Tools {
  @Tool({ description: 'Says who runs the process, after a second' })
  async whoami(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(0, 1, 'begun');
    await pause(1000);
    return `${getuid!()}`;
  }
}

@Controller('health')
class Health {
  constructor(private readonly mcp: McpHealthIndicator) {}

  @Get('live')
  live() {
    return this.mcp.liveness();
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' }), McpTelemetryModule.forRoot()],
  controllers: [Health],
  providers: [Tools],
})
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks([], { useProcessExit: true });
  await app.listen(process.env['PORT'] ?? 3000, process.env['HOST'] ?? '127.0.0.1');
}

void bootstrap();
