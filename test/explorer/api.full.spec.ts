import { VersioningType, type INestApplication } from '@nestjs/common';
import { PLATFORMS } from '../fixtures/matrix.js';
import { Policies, Shop, startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';

it.each(PLATFORMS)('the global prefix and versions of the application apply on %s', async platform => {
  const configure = (app: INestApplication) => {
    app.setGlobalPrefix('shop');
    app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
  };
  const app = await startExplored([Shop], { platform, configure, explorer: { path: 'ops/explorer' } });
  const { headers } = await app.get('/shop/ops/explorer');
  expect(headers['location']).toBe('explorer/index.html');
  const { json } = await app.get('/shop/ops/explorer/api/catalogue');
  expect(json.servers[0].path).toBe('/shop/v1/mcp');
  const called = await app.post('/shop/ops/explorer/api/call', {
    server: 'test',
    caller: { kind: 'anonymous' },
    method: 'resources/read',
    params: { uri: 'shop://hours' },
  });
  expect(called.json.result.value.contents).toMatchObject([{ text: '9 to 5' }]);
  await app.close();
});

describe.each(PLATFORMS)('the API of the explorer on %s', platform => {
  let app: ExploredApp;

  beforeAll(async () => {
    app = await startExplored([Shop], { platform, module: { providers: [Policies] } });
  });
  afterAll(() => app.close());

  it('tells the catalogue', async () => {
    const { json } = await app.get(`${API}/catalogue`);
    const [server] = json.servers;
    expect(server).toMatchObject({ name: 'test', path: '/mcp', isGateway: false, isProtected: false });
    const search = server.handlers.find(({ name }: { name: string }) => name === 'search');
    expect(search).toMatchObject({
      className: 'Shop',
      methodName: 'search',
      headers: [{ header: 'Mcp-Param-Query', argument: 'query' }],
    });
    expect(search.tokens).toBe(Math.ceil(JSON.stringify(search.definitions.modern).length / 4));
    expect(server.handlers.find(({ name }: { name: string }) => name === 'order').steps).toEqual([
      { kind: 'guard', name: 'RolesGuard', level: 'method' },
    ]);
  });

  it('redirects to the page, and serves its files', async () => {
    const bare = await app.get('/mcp-explorer');
    expect([bare.status, bare.headers['location']]).toEqual([308, 'mcp-explorer/index.html']);
    expect((await app.get('/mcp-explorer/index.html')).text).toContain('<!doctype html>');
    const style = await app.get('/mcp-explorer/style.css');
    expect(style.status).toBe(200);
    const again = await app.get('/mcp-explorer/style.css', { 'if-none-match': style.headers['etag']! });
    expect(again.status).toBe(304);
    expect((await app.get('/mcp-explorer/../package.json')).status).toBe(404);
    expect((await app.get('/mcp-explorer/%2e%2e/api-failure.ts')).status).toBe(404);
  });

  it('calls, and traces the chain', async () => {
    const { status, json } = await app.post(`${API}/call`, {
      server: 'test',
      caller: { kind: 'anonymous' },
      method: 'tools/call',
      params: { name: 'search', arguments: { query: 'a very long query' } },
    });
    expect(status).toBe(200);
    expect(json.outcome).toBe('result');
    expect(json.result.value.content).toEqual([{ type: 'text', text: 'found a very long query, please' }]);
    expect(json.progress).toEqual([{ atMs: expect.any(Number), text: 'half', share: 0.5 }]);
    const turns = json.chain.flatMap(({ turns: all }: { turns: object[] }) => all);
    expect(turns).toMatchObject([
      { id: 'local/short', mode: 'audit', outcome: 'deny', messages: [{ message: 'too long' }] },
      {
        id: 'local/polite',
        outcome: 'mutated',
        before: { value: { content: [{ text: 'found a very long query' }] } },
        after: { value: { content: [{ text: 'found a very long query, please' }] } },
      },
    ]);
  });

  it('answers an elicitation in another round', async () => {
    const call = {
      server: 'test',
      caller: { kind: 'anonymous' },
      method: 'tools/call',
      params: { name: 'size' },
    };
    const first = await app.post(`${API}/call`, call);
    expect(first.json).toMatchObject({
      outcome: 'asked',
      inputRequests: [{ key: 'size', method: 'elicitation/create', params: { message: 'Which size?' } }],
    });
    const { requestState } = first.json;
    const inputResponses = { size: { action: 'accept', content: { size: 'M' } } };
    const second = await app.post(`${API}/call`, { ...call, inputResponses, requestState });
    expect(second.json.result.value.content[0].text).toBe('size M, please');
  });

  it.each(['2026-07-28', '2025-11-25'])('tells the lists of an anonymous caller of %s', async revision => {
    const { json } = await app.post(`${API}/callers`, {
      server: 'test',
      caller: { kind: 'anonymous' },
      revision,
    });
    const [tools, ...others] = json.lists;
    expect(tools.entries.map(({ name }: { name: string }) => name)).toEqual(['search', 'size']);
    expect(tools.missing).toMatchObject([
      { name: 'order', by: 'guard', names: ['RolesGuard'] },
      { name: 'hidden', by: 'interceptor', names: ['local/hides'] },
    ]);
    expect(others.map(({ entries }: { entries: object[] }) => entries.length)).toEqual([1, 1, 1]);
  });

  it('tells the lists of a synthetic caller', async () => {
    const caller = { kind: 'synthetic', scopes: [], roles: ['clerk'] };
    const { json } = await app.post(`${API}/callers`, { server: 'test', caller });
    expect(json.caller).toEqual({ scopes: [], roles: ['clerk'] });
    expect(json.lists[0].entries.map(({ name }: { name: string }) => name)).toEqual([
      'search',
      'order',
      'size',
    ]);
  });

  it('tells the latest calls', async () => {
    const client = await app.client();
    await client.callTool({ name: 'search', arguments: { query: 'x' } });
    await expect(client.callTool({ name: 'synthetic' })).rejects.toThrow();
    const { json } = await app.get(`${API}/live`);
    expect(json.calls[0]).toMatchObject({ method: 'tools/call', outcome: 'error', code: -32602 });
    expect(json.calls[0]).not.toHaveProperty('name');
    expect(json.calls[1]).toMatchObject({
      method: 'tools/call',
      name: 'search',
      outcome: 'ok',
      era: 'modern',
    });
  });

  it('tells the chain', async () => {
    const { json } = await app.get(`${API}/chain`);
    const [{ interceptors, phases }] = json.servers;
    expect(interceptors).toMatchObject([
      { id: 'local/short', mode: { value: 'audit', from: 'declared' }, counters: { wouldRefuse: 1 } },
      {
        id: 'local/polite',
        mode: { from: 'default' },
        priority: { value: { request: 5, response: 5 }, from: 'declared' },
      },
      { id: 'local/hides', failOpen: { value: false, from: 'default' } },
    ]);
    expect(phases.map(({ event, phase }: { event: string; phase: string }) => `${event} ${phase}`)).toEqual([
      'tools/list response',
      'tools/call request',
      'tools/call response',
    ]);
    expect(interceptors[1].counters.p99).toBeGreaterThan(0);
  });
});
