// A guarded shop with the explorer: open the printed page, and see what each caller gets, and why.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`Explorer: ${await app.getUrl()}/mcp-explorer`);
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
