// A tool whose arguments and result are class-validator DTOs: nested, inherited, with an array, an enumeration and an
// optional property. The DTO is the JSON Schema that clients see, and what arguments are checked against.
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
