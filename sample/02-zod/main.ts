// Zod schemas on both sides of a tool: what comes in is parsed, defaults included, and what goes out is checked before
// it leaves as structured content. Arguments of a prompt that are enumerations complete by themselves.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
