// REST routes and MCP tools side by side, behind the same global guard, interceptor and exception filter: what stands
// on a tool method (`@Roles('admin')`) counts as it does on a route. A second server is public, its route included.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
