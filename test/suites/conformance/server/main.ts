import 'reflect-metadata';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { McpModuleOptions } from 'nestjs-mcp';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { NodeAdapter } from '../../../fixtures/node-adapter.js';
import { ConformanceModule } from './conformance.module.js';

/** A client may keep connections that it does not use; the server does not wait for them when it ends. */
const forceCloseConnections = true;

const ADAPTERS = {
  express: () => new ExpressAdapter(),
  fastify: () => new FastifyAdapter({ forceCloseConnections }),
  node: () => new NodeAdapter(),
};

/**
 * `PORT` (default 3000, 0 for any), `ADAPTER` (express, fastify or node) and `LEGACY` (as the option) come from outside, and
 * so does `BACKEND`: given the URL of a server, this is a gateway in front of it.
 */
async function main(): Promise<void> {
  const { PORT = '3000', ADAPTER = 'express', LEGACY, BACKEND } = process.env;
  if (!Object.hasOwn(ADAPTERS, ADAPTER)) throw new Error('ADAPTER must be "express", "fastify" or "node"');
  const adapter: AbstractHttpAdapter = ADAPTERS[ADAPTER as keyof typeof ADAPTERS]();
  const legacy = LEGACY as McpModuleOptions['legacy'];
  const app = await NestFactory.create(
    BACKEND
      ? McpGatewayModule.forRoot({ legacy, backend: { url: BACKEND } })
      : ConformanceModule.register(legacy),
    adapter,
    { logger: ['warn', 'error'], forceCloseConnections },
  );
  app.enableShutdownHooks();
  await app.listen(PORT, '127.0.0.1');
  console.log(`Listening on ${await app.getUrl()}/mcp`);
}

void main();
