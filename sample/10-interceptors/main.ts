// A shop whose traffic is governed: what each interceptor did with a call is printed by a sink. `shortQueries` is only
// audited, `plainIds` no longer is, `wipe` is hidden from the list and so cannot be called, and ready-made interceptors guard secrets and size.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
