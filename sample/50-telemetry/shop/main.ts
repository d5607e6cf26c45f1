import '../tracing.js';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { Args, Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';

const SIZE = { type: 'object', properties: { size: { type: 'string' } } } as const;

@Injectable()
class Shop {
  private readonly tracer = trace.getTracer('shop');

  @Tool({ description: 'Searches the catalogue' })
  search(@Args('query') query: string) {
    return this.tracer.startActiveSpan('query the catalogue', span => {
      span.end();
      return `1 result for ${query}`;
    });
  }

  @Tool({ description: 'Orders a shirt, and asks for its size' })
  async order(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('size', { message: 'Which size?', schema: SIZE });
    this.tracer.startSpan('store the order').end();
    return `ordered ${String(content?.size)}`;
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' }), McpTelemetryModule.forRoot()],
  providers: [Shop],
})
class ShopModule {}

async function bootstrap() {
  const app = await NestFactory.create(ShopModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3001, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
