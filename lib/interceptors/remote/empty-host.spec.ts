import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { LogSpy } from '../../../test/fixtures/log-spy.js';
import { startApp, type TestApp } from '../../../test/fixtures/matrix.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }
}

interface Host {
  capabilities: object;
  /** What it answers `interceptors/list`. */
  status: number;
  body: object | string;
}

const error = (code: number) => ({ error: { code, message: 'no' } });
const DECLARED = { extensions: { 'io.modelcontextprotocol/interceptors': { supportedEvents: [] } } };

let host: Host;
let server: Server;
let shop: TestApp;
let logs: LogSpy;

/** A server that speaks 2026-07-28 over HTTP, byte by byte. */
beforeEach(async () => {
  host = { capabilities: DECLARED, status: 404, body: error(-32601) };
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { id, method } = JSON.parse(text || '{}') as { id?: number; method?: string };
      const discovered = {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: host.capabilities,
        serverInfo: { name: 'host', version: '1' },
        ttlMs: 0,
        cacheScope: 'private',
      };
      const isDiscovery = method === 'server/discover';
      const body = isDiscovery ? { result: discovered } : host.body;
      response.writeHead(isDiscovery ? 200 : host.status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    });
  });
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
});
afterEach(async () => {
  await shop?.close();
  await new Promise(closed => server.close(closed));
});

async function call(): Promise<unknown> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  if (!shop?.app.getHttpServer().listening) {
    shop = await startApp([Shop], {
      mcp: { interceptors: { servers: [{ name: 'host', url, era: 'modern', ttlMs: 0 }] } },
    });
    shop.app.useLogger((logs = new LogSpy()));
  }
  return (await shop.client({ era: 'modern' })).callTool({ name: 'open' });
}

it.each([
  ['with HTTP 404', 404],
  ['with HTTP 200', 200],
])('messages pass where a host declares no events and answers -32601 %s', async (_how, status) => {
  host.status = status;
  await expect(call()).resolves.toMatchObject({ content: [{ text: 'open' }] });
});

it.each([
  ['-32601 without the declaration', { capabilities: {} }],
  [
    '-32601 from one that declares events',
    {
      capabilities: {
        extensions: { 'io.modelcontextprotocol/interceptors': { supportedEvents: ['tools/call'] } },
      },
    },
  ],
  ['a bare 404', { body: 'Not Found' }],
  ['a 404 with another error', { body: error(-32603) }],
  ['a 404 with JSON that is no error', { body: { code: -32601 } }],
])('nothing passes after %s', async (_what, given) => {
  Object.assign(host, given);
  await expect(call()).rejects.toMatchObject({ code: -32603 });
});

it('a host that goes from some interceptors to none is warned of', async () => {
  const gate = { name: 'gate', type: 'validation', hooks: [{ events: ['prompts/get'], phase: 'request' }] };
  Object.assign(host, { status: 200, body: { result: { resultType: 'complete', interceptors: [gate] } } });
  await expect(call()).resolves.toMatchObject({ content: [{ text: 'open' }] });
  expect(logs.warnings.filter(line => line.includes('host'))).toEqual([]);
  Object.assign(host, { status: 404, body: error(-32601) });
  await call();
  await call();
  expect(logs.warnings.filter(line => line.includes('host'))).toEqual([
    expect.stringContaining('"host" advertised 1 interceptor before, and now none'),
  ]);
});
