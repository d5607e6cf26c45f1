import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Module, type DynamicModule, type INestApplication, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Client, StreamableHTTPClientTransport, type ClientCapabilities } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { McpGatewayModule, type McpGatewayOptions } from 'nestjs-mcp/gateway';

export type Era = 'modern' | 'legacy';
export const ERAS: Era[] = ['modern', 'legacy'];

/** The reference server, as its own CLI starts it. */
export const EVERYTHING = {
  command: process.execPath,
  args: [
    join(
      createRequire(__filename).resolve('@modelcontextprotocol/server-everything/package.json'),
      '../dist/index.js',
    ),
    'stdio',
  ],
  stderr: 'ignore' as const,
};

/** An application that is open, and how to reach it. */
export interface Running {
  readonly app: INestApplication;
  readonly url: string;
}

export async function listen(module: object, port = 0): Promise<Running> {
  const app = await NestFactory.create(module as never, {
    logger: false,
    forceCloseConnections: true,
    abortOnError: false,
  });
  await app.listen(port, '127.0.0.1');
  return { app, url: `${await app.getUrl()}/mcp` };
}

/** A gateway, as an application of its own. */
export function startGateway(
  options: McpGatewayOptions,
  providers: Provider[] = [],
  port = 0,
  imports: DynamicModule[] = [],
): Promise<Running> {
  @Module({ imports: [McpGatewayModule.forRoot(options), ...imports], providers })
  class GatewayModule {}
  return listen(GatewayModule, port);
}

export interface ClientSetup {
  capabilities?: ClientCapabilities;
  /** Called before the client connects. */
  prepare?: (client: Client) => void;
}

function clientFor(era: Era, { capabilities = {}, prepare }: ClientSetup): Client {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  );
  prepare?.(client);
  return client;
}

/** Connects over HTTP; a 2025-era client has its stream for notifications once this settles. */
export async function connect(
  url: string,
  era: Era,
  setup: ClientSetup = {},
  hasStream = era === 'legacy',
): Promise<Client> {
  const client = clientFor(era, setup);
  let onStream = () => {};
  const streaming = new Promise<void>(resolve => (onStream = resolve));
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (init?.method === 'GET') onStream();
      return response;
    },
  });
  await client.connect(transport);
  if (hasStream) await streaming;
  return client;
}

/** Starts a server and connects to it over stdio. */
export async function connectStdio(
  server: { command: string; args: string[]; stderr?: 'ignore'; env?: Record<string, string> },
  era: Era,
  setup: ClientSetup = {},
): Promise<Client> {
  const client = clientFor(era, setup);
  await client.connect(new StdioClientTransport(server));
  return client;
}

/** What something ended with: its result, or its error's code, message and data. */
export async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: unknown) => {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    return { code, message, data };
  });
}

/** The reference servers that this process has started and that run, by their ids. */
export async function everythingProcesses(): Promise<number[]> {
  const ps = spawn('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pids: number[] = [];
  for await (const line of createInterface({ input: ps.stdout })) {
    if (line.includes('server-everything')) pids.push(parseInt(line, 10));
  }
  return pids;
}
