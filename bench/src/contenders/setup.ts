import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { startProfile, type Profile } from './profile.js';

export type Platform = 'express' | 'fastify' | 'node';
export type Era = '2026-07-28' | '2025-11-25';

/** What a contender is started with, as JSON on its command line. */
export interface Setup {
  readonly platform: Platform;
  readonly era: Era;
  /** How many tools it serves, the echo tool among them. */
  readonly tools: number;
  /** What it serves beside them. */
  readonly feature?: 'guarded' | 'route' | 'orders' | 'rules' | 'scans' | 'rounds' | 'tasks';
  /** Whether it imports `McpRedisModule`, with the Redis of `REDIS_URL`. */
  readonly redis?: boolean;
  /** Whether it imports `McpTelemetryModule`, without an OpenTelemetry SDK. */
  readonly telemetry?: boolean;
  /** Whether it imports `McpTasksModule`. */
  readonly tasks?: boolean;
  /** The bearer token of each request. Default: a short text. */
  readonly token?: string;
  /** Whether it imports `McpAuthModule`, with the keys of the token's issuer. */
  readonly auth?: Auth;
  /** How 2025-era clients are served. Default: with sessions. */
  readonly legacy?: 'stateless';
  /** Whether a second process answers, and this one only passes the calls on to it. */
  readonly isProxy?: boolean;
  /** How many toolsets of the same size the tools are in. It then listens at the first. */
  readonly toolsets?: number;
  /** Whether it imports `McpToolSearchModule`. */
  readonly search?: boolean;
  /** Whether it imports `McpExplorerModule`. */
  readonly explorer?: boolean;
}

export interface Auth {
  readonly issuer: string;
  readonly audience: string;
  readonly jwks: object;
  /** How long a verified token is cached, in milliseconds. */
  readonly tokenCacheMs: number;
}

/** What a contender tells of its memory, in MB. */
export interface Memory {
  readonly rssMb: number;
  readonly heapMb: number;
}

export const readSetup = (): Setup => JSON.parse(process.argv[2]) as Setup;

function memory(): Memory {
  const rssMb = process.resourceUsage().maxRSS / 1024;
  globalThis.gc!();
  return { rssMb, heapMb: process.memoryUsage().heapUsed / 2 ** 20 };
}

/** What the parent process asks for. */
export type Request = 'memory' | 'cpu' | 'start profile' | 'end profile';

/** Tells the parent process where the server listens, and then what it asks for. */
export function ready(url: string): void {
  let endProfile: () => Promise<Profile>;
  const answers: Record<Request, () => unknown> = {
    memory,
    // In microseconds.
    cpu: () => process.cpuUsage().user + process.cpuUsage().system,
    'start profile': async () => {
      endProfile = await startProfile();
      return {};
    },
    'end profile': () => endProfile(),
  };
  process.on('message', async (request: Request) => process.send!(await answers[request]()));
  process.send!(url);
}

type NewAdapter = new () => AbstractHttpAdapter;

/** The adapter of the tests, which is built with the conformance server. */
const loadNodeAdapter = () =>
  createRequire(import.meta.url)('../../../dist/fixtures/node-adapter.js') as { NodeAdapter: NewAdapter };

const ADAPTERS: Readonly<Record<Platform, () => Promise<AbstractHttpAdapter>>> = {
  express: async () => new (await import('@nestjs/platform-express')).ExpressAdapter(),
  fastify: async () => new (await import('@nestjs/platform-fastify')).FastifyAdapter(),
  node: async () => new (loadNodeAdapter().NodeAdapter)(),
};

export async function createApp(module: Type, platform: Platform) {
  const adapter = await ADAPTERS[platform]();
  return NestFactory.create(module, adapter, { logger: ['error'] });
}

/** Listens on a free port, and says so. */
export async function serve(app: Awaited<ReturnType<typeof createApp>>, path = '/mcp'): Promise<void> {
  await app.listen(0, '127.0.0.1');
  ready(`${await app.getUrl()}${path}`);
}
