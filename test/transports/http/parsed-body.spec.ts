import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import express from 'express';
import { McpModule, Tool } from 'nestjs-mcp';

const MAX_BYTES = 2000;

@Injectable()
class Tools {
  @Tool()
  hello() {
    return 'hello';
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'test', version: '1.0.0', http: { maxBodyBytes: MAX_BYTES } })],
  providers: [Tools],
})
class AppModule {}

const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map(close => close())));

/** Listens with an HTTP server that is not Nest's. */
async function listen(server: Server): Promise<URL> {
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  closing.push(async () => server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

/** An Express application that parses bodies, and hands the requests to Nest. */
async function expressHost(): Promise<URL> {
  const host = express();
  host.use(express.json());
  const app = await NestFactory.create(AppModule, new ExpressAdapter(host), { logger: false });
  closing.unshift(() => app.close());
  await app.init();
  return listen(createServer(host));
}

/** A framework for functions, which parses bodies without Express. */
async function functionHost(adapter: ExpressAdapter | FastifyAdapter): Promise<URL> {
  const app = await NestFactory.create(AppModule, adapter, { logger: false });
  closing.unshift(() => app.close());
  await app.init();
  if (adapter instanceof FastifyAdapter) await adapter.getInstance().ready();
  return listen(
    createServer((request: IncomingMessage & { body?: unknown }, response) => {
      const handle = () => void app.getHttpServer().emit('request', request, response);
      if (request.method !== 'POST') return handle();
      void json(request).then(body => {
        request.body = body;
        handle();
      });
    }),
  );
}

describe.each([
  ['express.json() of the host', expressHost],
  ['a framework for functions, on Express', () => functionHost(new ExpressAdapter())],
  ['a framework for functions, on Fastify', () => functionHost(new FastifyAdapter())],
])('a body that was parsed before Nest by %s', (_, start) => {
  it.each([{ pin: '2026-07-28' }, 'legacy'] as const)('is accepted from a client of %j', async mode => {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(await start()));
    expect(await client.callTool({ name: 'hello' })).toMatchObject({ content: [{ text: 'hello' }] });
    await client.close();
  });

  it('is refused if it is too large or nested too deeply', async () => {
    const url = await start();
    const post = (body: string | ReadableStream) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body,
        ...(typeof body !== 'string' && { duplex: 'half' }),
      });
    const large = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
      params: { a: 'a'.repeat(MAX_BYTES) },
    });
    expect((await post(large)).status).toBe(413);
    // Without a Content-Length.
    expect((await post(new Blob([large]).stream())).status).toBe(413);
    const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(600)}${']'.repeat(600)}}`;
    expect((await post(deep)).status).toBe(400);
  });
});
