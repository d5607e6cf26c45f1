import { InterceptorChainRunner, SYNTHETIC_META, type ChainReport } from 'nestjs-mcp';
import type { McpClient } from 'nestjs-mcp/client';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { Shop, startClients, textOf, Trace, type ClientApp } from './fixtures.js';

const ERAS = ['modern', 'legacy'] as const;

describe.each(ERAS)('a client, %s', era => {
  let server: TestApp;
  let clients: ClientApp;
  let client: McpClient;
  let trace: Trace;

  beforeAll(async () => {
    server = await startApp([Shop], { forceCloseConnections: true });
    clients = await startClients([{ name: 'shop', url: await server.url(), era }], [Trace]);
    client = clients.client();
    trace = clients.app.get(Trace);
  });
  afterAll(async () => {
    await clients.close();
    await server.close();
  });
  beforeEach(() => {
    trace.seen.length = 0;
    trace.requests.length = 0;
  });

  const echo = (text: string) => client.callTool({ name: 'echo', arguments: { text } });

  it.each<[event: string, verb: string, run: () => Promise<unknown>, found: unknown]>([
    ['tools/list', 'listTools', () => client.listTools(), { tools: expect.any(Array) }],
    ['tools/call', 'callTool', () => echo('hi'), { content: [{ type: 'text', text: 'echo hi' }] }],
    [
      'prompts/list',
      'listPrompts',
      () => client.listPrompts(),
      { prompts: [expect.objectContaining({ name: 'greet' })] },
    ],
    [
      'prompts/get',
      'getPrompt',
      () => client.getPrompt({ name: 'greet', arguments: { name: 'ann' } }),
      { messages: [{ role: 'user', content: { type: 'text', text: 'hello ann' } }] },
    ],
    [
      'resources/list',
      'listResources',
      () => client.listResources(),
      { resources: [expect.objectContaining({ uri: 'shop://open' })] },
    ],
    [
      'resources/list',
      'listResourceTemplates',
      () => client.listResourceTemplates(),
      { resourceTemplates: [expect.objectContaining({ uriTemplate: 'shop://item/{id}' })] },
    ],
    [
      'resources/read',
      'readResource',
      () => client.readResource({ uri: 'shop://open' }),
      { contents: [expect.objectContaining({ text: 'open' })] },
    ],
    [
      'completion/complete',
      'complete',
      () =>
        client.complete({
          ref: { type: 'ref/prompt', name: 'greet' },
          argument: { name: 'name', value: '' },
        }),
      { completion: expect.objectContaining({ values: ['ann', 'bob'] }) },
    ],
    [
      'tools/call',
      'request, where the method has an event',
      () => client.request({ method: 'tools/call', params: { name: 'echo', arguments: { text: 'hi' } } }),
      { content: [{ type: 'text', text: 'echo hi' }] },
    ],
  ])(
    'runs the chain for %s around %s: mutate, validate, send; validate, mutate, deliver',
    async (event, _verb, run, found) => {
      expect(await run()).toMatchObject(found as object);
      expect(trace.seen).toEqual([
        `${event} request send mutate`,
        `${event} request send validate after`,
        `${event} request success`,
        `${event} response receive validate after`,
        `${event} response receive mutate`,
        `${event} response success`,
      ]);
      expect(trace.requests).toHaveLength(1);
    },
  );

  it('hands interceptors the bare params, and in the response phase those of the request', async () => {
    await client.callTool({ name: 'echo', arguments: { text: 'secret' } }, { onprogress: () => undefined });
    expect(trace.requests).toEqual([{ name: 'echo', arguments: { text: '***' } }]);
    expect(server.app.get(Shop).calls).toContain('***');
  });

  it.each([
    ['request', 'deny-request'],
    ['response', 'deny-response'],
  ])('refuses in the %s phase with code and data', async (phase, text) => {
    const calls = server.app.get(Shop).calls.length;
    await expect(echo(text)).rejects.toMatchObject({
      name: 'McpException',
      code: -32602,
      data: { validationErrors: [{ interceptor: 'check', message: 'Not that', path: 'arguments.text' }] },
    });
    expect(server.app.get(Shop).calls.length - calls).toBe(phase === 'request' ? 0 : 1);
    expect(textOf(await echo('still there'))).toBe('echo still there');
  });

  it('fails closed, without a word of why', async () => {
    const refused = await echo('crash').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: -32603, data: { failedInterceptor: 'change' } });
    expect(JSON.stringify(refused)).not.toContain('hunter2');
  });

  it('answers without a request where an interceptor does', async () => {
    const result = await echo('cached');
    expect(textOf(result)).toBe('from the cache');
    expect(result._meta?.[SYNTHETIC_META]).toEqual({ interceptor: 'change' });
    expect(server.app.get(Shop).calls).not.toContain('cached');
    expect(trace.seen).toContain('tools/call response success');
  });

  it('refuses an answer of an interceptor that is none', async () => {
    await expect(client.readResource({ uri: 'shop://cached' })).rejects.toMatchObject({
      code: -32603,
      data: { failedInterceptor: 'change' },
    });
  });

  it('reports under the name of the client, audits included', async () => {
    const reports: ChainReport[] = [];
    const runner = clients.app.get(InterceptorChainRunner, { strict: false });
    const subscription = runner.reports$.subscribe(report => reports.push(report));
    await echo('audited');
    subscription.unsubscribe();
    expect(reports).toMatchObject([
      { server: 'shop', direction: 'send', result: { event: 'tools/call', phase: 'request' } },
      { server: 'shop', direction: 'receive', result: { event: 'tools/call', phase: 'response' } },
    ]);
    expect(reports[0].result.results).toContainEqual(
      expect.objectContaining({ interceptor: 'audits', mode: 'audit', outcome: 'deny' }),
    );
  });

  it('tells interceptors for whom a call is made', async () => {
    const reports: ChainReport[] = [];
    const runner = clients.app.get(InterceptorChainRunner, { strict: false });
    const subscription = runner.reports$.subscribe(report => reports.push(report));
    const context = { principal: { type: 'user', id: 'ann' }, traceId: 'abc' } as const;
    await client.callTool({ name: 'echo', arguments: { text: 'a' } }, { context });
    subscription.unsubscribe();
    expect(reports[0].context).toMatchObject(context);
  });

  it('leaves methods of one’s own alone', async () => {
    await expect(client.request({ method: 'my/own', params: {} }, anything)).rejects.toThrow();
    expect(trace.seen).toEqual([]);
  });

  it('opens no stream of changes past the interceptors', async () => {
    const params = { notifications: { resourceSubscriptions: ['shop://open'] } };
    await expect(client.request({ method: 'subscriptions/listen', params }, anything)).rejects.toThrow(
      'Use listen()',
    );
  });

  it('tells who the server is', async () => {
    expect(await client.getServerVersion()).toMatchObject({ name: 'test', version: '1.0.0' });
    expect(await client.getServerCapabilities()).toMatchObject({ tools: {} });
    expect(await client.getInstructions()).toBeUndefined();
    expect(await client.getNegotiatedProtocolVersion()).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25');
  });

  it('gives up when the caller does, and the others go on', async () => {
    const controller = new AbortController();
    const given = client.callTool(
      { name: 'echo', arguments: { text: 'given up' } },
      { signal: controller.signal },
    );
    const other = echo('other');
    controller.abort(new Error('enough'));
    await expect(given).rejects.toMatchObject({ name: 'SdkError', code: 'REQUEST_TIMEOUT' });
    expect(textOf(await other)).toBe('echo other');
  });
});

const anything = {
  '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) },
};

describe('subscriptions', () => {
  let server: TestApp;
  let clients: ClientApp;

  beforeAll(async () => {
    server = await startApp([Shop], { forceCloseConnections: true });
    const url = await server.url();
    clients = await startClients(
      [
        { name: 'modern', url, era: 'modern' },
        { name: 'legacy', url, era: 'legacy' },
      ],
      [Trace],
    );
  });
  afterAll(async () => {
    await clients.close();
    await server.close();
  });

  it.each(ERAS)('are admitted, and deliver (%s)', async era => {
    const client = clients.client(era);
    const updated = new Promise(resolve => client.resourceUpdated$.subscribe(resolve));
    const changed = new Promise(resolve => client.toolsChanged$.subscribe(() => resolve('changed')));
    if (era === 'legacy') await client.subscribeResource({ uri: 'shop://open' });
    const stream =
      era === 'modern'
        ? await client.listen({ resourceSubscriptions: ['shop://open'], toolsListChanged: true })
        : undefined;
    await client.callTool({ name: 'touch' });
    expect(await updated).toEqual({ uri: 'shop://open' });
    await client.callTool({ name: 'grow', arguments: { name: `grown_${era}` } });
    expect(await changed).toBe('changed');
    if (era === 'legacy') await client.unsubscribeResource({ uri: 'shop://open' });
    await stream?.close();
  });

  it.each(ERAS)('can be refused (%s)', async era => {
    const client = clients.client(era);
    const uri = 'shop://deny-request';
    const refused =
      era === 'legacy' ? client.subscribeResource({ uri }) : client.listen({ resourceSubscriptions: [uri] });
    await expect(refused).rejects.toMatchObject({
      code: -32602,
      data: { validationErrors: expect.any(Array) },
    });
    expect(clients.app.get(Trace).seen).toContain('resources/subscribe request send validate after');
  });

  it('leave out of a stream what an interceptor answers itself', async () => {
    const client = clients.client('modern');
    const stream = await client.listen({ resourceSubscriptions: ['shop://open', 'shop://cached'] });
    expect(stream.honoredFilter.resourceSubscriptions).toEqual(['shop://open']);
    await stream.close();
  });

  it('pings where there are pings', async () => {
    expect(await clients.client('legacy').ping()).toEqual({});
  });
});
