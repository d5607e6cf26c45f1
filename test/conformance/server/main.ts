import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { LegacyMode } from 'nestjs-mcp';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { ConformanceModule } from './conformance.module.js';

/** A client may keep connections that it does not use; the server does not wait for them when it ends. */
const forceCloseConnections = true;

const ADAPTERS = {
  express: () => new ExpressAdapter(),
  fastify: () => new FastifyAdapter({ forceCloseConnections }),
};

/**
 * `PORT` (default 3000, 0 for any), `ADAPTER` (express or fastify) and `LEGACY` (as the option) come from outside, and
 * so does `BACKEND`: given the URL of a server, this is a gateway in front of it.
 */
async function main(): Promise<void> {
  const { PORT = '3000', ADAPTER = 'express', LEGACY, BACKEND } = process.env;
  if (!Object.hasOwn(ADAPTERS, ADAPTER)) throw new Error('ADAPTER must be "express" or "fastify"');
  const adapter = ADAPTERS[ADAPTER as keyof typeof ADAPTERS]();
  const legacy = LEGACY as LegacyMode | undefined;
  const app = await NestFactory.create(
    BACKEND
      ? McpGatewayModule.forRoot({ legacy, backend: { url: BACKEND } })
      : ConformanceModule.register(legacy),
    adapter as ExpressAdapter,
    { logger: ['warn', 'error'], forceCloseConnections },
  );
  app.enableShutdownHooks();
  await app.listen(PORT, '127.0.0.1');
  console.log(`Listening on ${await app.getUrl()}/mcp`);
}

void main();
