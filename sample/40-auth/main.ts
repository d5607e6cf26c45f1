// A shop behind logins: opening hours for anybody, orders for those whose token has the scope, and a tool that only jobs see.
// Start the identity provider first: `node dist/sample/40-auth/identity-provider/main.js`.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
