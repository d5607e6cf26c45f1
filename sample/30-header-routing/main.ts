// A database in two regions, each an application of its own (`REGION`). In front of both stands nginx, which routes calls by
// the header `Mcp-Param-Region` and never looks at a body; that header and body agree is for the application to check.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
