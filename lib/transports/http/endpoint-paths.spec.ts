import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { McpModule, Tool } from 'nestjs-mcp';
import { PLATFORMS, startApp, type Platform, type TestApp } from '../../../test/fixtures/matrix.js';
import { exchange } from '../../../test/fixtures/raw-http.js';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});
const tooDeep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(6000)}${']'.repeat(6000)}}}`;
const REFUSED = { status: 400, body: expect.stringContaining('nested too deeply') };

describe('the gates know the endpoint by the path that the router sees', () => {
  let test: TestApp;
  afterEach(() => test.close());

  const start = async (platform: Platform, path?: string) => {
    test = await startApp([Tools], { platform, mcp: { http: { path, maxBodyBytes: 20_000 } } });
    return test.url();
  };

  it.each(['fastify', 'node'] as const)('where it decodes the path, on %s', async platform => {
    const url = await start(platform);
    const post = (body: string) => exchange(url, { path: '/%6dcp?a=1', headers, body });
    expect(await post(initialize)).toMatchObject({ status: 200 });
    expect(await post(tooDeep)).toMatchObject(REFUSED);
    expect(await post('{')).toMatchObject({ status: 400, body: expect.stringContaining('"code":-32700') });
    expect(await post(`"${'a'.repeat(20_000)}"`)).toMatchObject({ status: 413 });
  });

  it.each(['fastify', 'node'] as const)('and complete CORS there, on %s', async platform => {
    test = await startApp([Tools], {
      platform,
      configure: app => app.enableCors({ origin: 'http://localhost', allowedHeaders: ['X-Own'] }),
    });
    const answer = await exchange(await test.url(), {
      method: 'OPTIONS',
      path: '/%6dcp',
      headers: {
        origin: 'http://localhost',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-method',
      },
    });
    expect(answer.headers['access-control-allow-headers']).toMatch(/mcp-method/i);
  });

  it.each(PLATFORMS)('where the target is in absolute form, on %s', async platform => {
    const url = await start(platform);
    const post = (body: string) => exchange(url, { path: `http://any.example/mcp?a=1`, headers, body });
    expect(await post(initialize)).toMatchObject({ status: 200 });
    expect(await post(tooDeep)).toMatchObject(REFUSED);
  });

  it.each([
    ['an optional segment', '/mcp{/:tenant}', '/mcp/acme'],
    ['an optional segment that is not there', '/mcp{/:tenant}', '/mcp'],
    ['a parameter within a segment', '/v:version/mcp', '/v1/mcp'],
    ['a wildcard', '/mcp/*rest', '/mcp/a/b'],
  ])('where its pattern has %s', async (_what, pattern, path) => {
    const url = await start('express', pattern);
    expect(await exchange(url, { path, headers, body: initialize })).toMatchObject({ status: 200 });
    expect(await exchange(url, { path, headers, body: tooDeep })).toMatchObject(REFUSED);
  });

  it('and a body that another parser read is not nested deeper than theirs', async () => {
    test = await startApp([Tools], {
      configure: app =>
        app.use((request: { url: string }, _response: unknown, next: () => void) => {
          request.url = '/mcp';
          next();
        }),
    });
    const url = await test.url();
    expect(await exchange(url, { path: '/other', headers, body: initialize })).toMatchObject({ status: 200 });
    expect(await exchange(url, { path: '/other', headers, body: tooDeep })).toMatchObject(REFUSED);
  });
});

describe('the options of Fastify’s router', () => {
  @Module({ imports: [McpModule.forRoot({ name: 'test', version: '1.0.0' })], providers: [Tools] })
  class AppModule {}

  let app: INestApplication;
  afterEach(() => app.close());

  it.each(['//mcp', '/mcp;a=1', '/MCP/'])('lead no body past the gate: %s', async path => {
    const routerOptions = {
      ignoreDuplicateSlashes: true,
      useSemicolonDelimiter: true,
      caseSensitive: false,
      ignoreTrailingSlash: true,
    };
    app = await NestFactory.create(AppModule, new FastifyAdapter({ routerOptions }), { logger: false });
    await app.listen(0, '127.0.0.1');
    expect(await exchange(await app.getUrl(), { path, headers, body: tooDeep })).toMatchObject(REFUSED);
  });
});
