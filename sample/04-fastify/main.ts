// Fastify, with a global prefix and URI versioning: the endpoint is a route like any other, here /api/v1/mcp. The tools
// report progress, stop when they are cancelled and announce changes, as does a REST route that adds a tool.
import { VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const adapter = new FastifyAdapter({ forceCloseConnections: true });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter);
  app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI });
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/api/v1/mcp`);
}

void bootstrap();
