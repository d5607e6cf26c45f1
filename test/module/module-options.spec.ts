import type { Server } from 'node:http';
import { UseGuards } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpModule, type McpModuleOptions } from 'nestjs-mcp';
import request from 'supertest';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp } from '../fixtures/matrix.js';

async function start(options: unknown) {
  const imports = [McpModule.forRoot(options as McpModuleOptions)];
  return (await Test.createTestingModule({ imports }).setLogger(new LogSpy()).compile()).init();
}

const VALID = { name: 'shop', version: '1.0.0' };

/** Options, each with one thing wrong, and what the sentence has to say. */
const WRONG: [unknown, string][] = [
  [undefined, 'options must be an object'],
  [[], 'options must be an object'],
  [{ version: '1' }, '"name" must be'],
  [{ name: ' ', version: '1' }, '"name" must be'],
  [{ name: 'shop' }, '"version" must be'],
  [{ ...VALID, version: 1 }, '"version" must be'],
  [{ ...VALID, path: '/mcp' }, 'unknown option "path"; known are name, version, '],
  [{ ...VALID, title: 1 }, '"title" must be'],
  [{ ...VALID, instructions: {} }, '"instructions" must be'],
  [{ ...VALID, websiteUrl: 'example.com' }, '"websiteUrl" must be'],
  [{ ...VALID, icons: {} }, '"icons" must be'],
  [{ ...VALID, icons: [{ url: 'x' }] }, '"icons[0]" must be'],
  [{ ...VALID, legacy: 'yes' }, '"legacy" must be "sessions", "stateless" or "reject", not "yes"'],
  [{ ...VALID, stdio: 'yes' }, '"stdio" must be true or false'],
  [{ ...VALID, pageSize: 0 }, '"pageSize" must be'],
  [{ ...VALID, pageSize: 1.5 }, '"pageSize" must be'],
  [{ ...VALID, http: true }, '"http" must be an object, or false'],
  [{ ...VALID, http: { port: 3000 } }, 'unknown option "http.port"; known are path, '],
  [{ ...VALID, http: { path: '' } }, '"http.path" must be'],
  [{ ...VALID, http: { path: '/mcp?x=1' } }, '"http.path" must be'],
  [{ ...VALID, http: { path: '/my mcp' } }, '"http.path" must be'],
  [{ ...VALID, http: { allowedHosts: [] } }, '"http.allowedHosts" must be'],
  [{ ...VALID, http: { allowedHosts: 'localhost' } }, '"http.allowedHosts" must be'],
  [{ ...VALID, http: { allowedHosts: ['localhost:3000'] } }, '"http.allowedHosts" must be'],
  [{ ...VALID, http: { allowedHosts: ['https://example.com'] } }, '"http.allowedHosts" must be'],
  [{ ...VALID, http: { allowedHosts: ['::1'] } }, '"http.allowedHosts" must be'],
  [{ ...VALID, http: { allowedOrigins: [''] } }, '"http.allowedOrigins" must be'],
  [{ ...VALID, http: { allowedOrigins: ['https://example.com'] } }, '"http.allowedOrigins" must be'],
  [{ ...VALID, http: { maxBodyBytes: -1 } }, '"http.maxBodyBytes" must be'],
  [{ ...VALID, http: { bodyTimeoutMs: 0 } }, '"http.bodyTimeoutMs" must be'],
  [{ ...VALID, http: { bodyTimeoutMs: 2 ** 31 } }, '"http.bodyTimeoutMs" must be'],
  [{ ...VALID, http: { maxListeners: '5' } }, '"http.maxListeners" must be'],
  [{ ...VALID, http: { keepAliveMs: -1 } }, '"http.keepAliveMs" must be'],
  [{ ...VALID, http: { keepAliveMs: 2 ** 31 } }, '"http.keepAliveMs" must be'],
  [{ ...VALID, sessions: 5 }, '"sessions" must be an object'],
  [{ ...VALID, sessions: { ttl: 5 } }, 'unknown option "sessions.ttl"; known are max, '],
  [{ ...VALID, sessions: { max: 0 } }, '"sessions.max" must be'],
  [{ ...VALID, sessions: { idleTimeoutMs: NaN } }, '"sessions.idleTimeoutMs" must be'],
  [{ ...VALID, sessions: { idleTimeoutMs: 2 ** 31 } }, '"sessions.idleTimeoutMs" must be'],
  [{ ...VALID, sessions: { maxSubscriptions: Infinity } }, '"sessions.maxSubscriptions" must be'],
  [{ ...VALID, cache: { 'tools/call': {} } }, 'unknown option "cache.tools/call"; known are tools/list, '],
  [{ ...VALID, cache: { 'tools/list': 5 } }, '"cache.tools/list" must be'],
  [{ ...VALID, cache: { 'tools/list': { ttlMs: -1 } } }, '"cache.tools/list.ttlMs" must be'],
  [{ ...VALID, cache: { 'tools/list': { cacheScope: 'all' } } }, '"cache.tools/list.cacheScope" must be'],
  [{ ...VALID, capabilities: { tool: true } }, 'unknown option "capabilities.tool"; known are tools, '],
  [{ ...VALID, capabilities: { tools: {} } }, '"capabilities.tools" must be true or false'],
];

describe('a wrong option stops the start with one sentence that names it:', () => {
  it.each(WRONG)('%j: %s', async (options, sentence) => {
    const error = await start(options).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ name: 'McpBootstrapError' });
    expect(error?.message).toMatch(/^McpModule\.forRoot\(\{ name: .* \}\): [^\n]+$/);
    expect(error?.message).toContain(sentence);
  });
});

describe('options', () => {
  it('that are undefined have their defaults', async () => {
    const test = await startApp([], {
      mcp: {
        title: undefined,
        http: { path: undefined, allowedHosts: undefined, keepAliveMs: undefined },
        sessions: { max: undefined, idleTimeoutMs: undefined, maxSubscriptions: undefined },
        cache: { 'tools/list': undefined },
        capabilities: { tools: undefined },
      },
    });
    const client = await test.client({ era: 'legacy' });
    expect(client.getServerVersion()).toEqual({ name: 'test', version: '1.0.0' });
    await test.close();
  });

  it('tell a client who the server is', async () => {
    const info = {
      title: 'Shop',
      websiteUrl: 'https://example.com',
      icons: [{ src: 'https://example.com/i' }],
    };
    const test = await startApp([], { mcp: { ...info, instructions: 'Buy' } });
    const client = await test.client();
    expect(client.getServerVersion()).toEqual({ name: 'test', version: '1.0.0', ...info });
    expect(client.getInstructions()).toBe('Buy');
    await test.close();
  });

  it('name hosts in any case', async () => {
    const test = await startApp([], { mcp: { http: { allowedHosts: ['Example.COM', '[::1]'] } } });
    const put = (host: string) =>
      request(test.app.getHttpServer() as Server)
        .put('/mcp')
        .set('host', host);
    await put('example.com:3000').expect(405);
    await put('[::1]').expect(405);
    await put('localhost').expect(403);
    await test.close();
  });

  it('may decorate the route, from forRoot and beside the factory of forRootAsync', async () => {
    const decorators = [UseGuards({ canActivate: () => false })];
    const test = await startApp([], {
      mcp: { http: { decorators } },
      module: {
        imports: [
          McpModule.forRootAsync({
            decorators,
            useFactory: () => ({ name: 'other', version: '1', http: { path: '/other' } }),
          }),
        ],
      },
    });
    for (const path of ['/mcp', '/other']) expect((await fetch(await test.url(path))).status).toBe(403);
    await test.close();
  });
});
