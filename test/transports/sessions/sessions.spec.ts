import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Injectable, type ExecutionContext, type INestApplication } from '@nestjs/common';
import { Ctx, McpContext, Resource, ResourceTemplate, Tool } from 'nestjs-mcp';
import { deferred } from '../../fixtures/deferred.js';
import { platforms, startApp, type TestApp } from '../../fixtures/matrix.js';

@Injectable()
class Tools {
  onWaiting: () => void = () => undefined;
  calls = 0;

  @Tool()
  async wait(@Ctx() { signal }: McpContext) {
    this.onWaiting();
    await once(signal, 'abort');
  }

  /** Lets `held` answer. */
  readonly release = deferred();
  readonly releaseLater = deferred();

  @Tool()
  async numbered() {
    const number = (this.calls += 1);
    this.onWaiting();
    await (number === 1 ? this.release : this.releaseLater).promise;
    return `call ${number}`;
  }

  @Tool()
  async held() {
    this.onWaiting();
    await this.release.promise;
    return 'at last';
  }

  @ResourceTemplate({ uriTemplate: 'long://{id}' })
  long() {
    return 'long';
  }

  @Resource({ uri: 'state://a' })
  a() {
    return 'a';
  }

  @Resource({ uri: 'state://b' })
  b() {
    return 'b';
  }
}

/** How long sessions may idle: long enough for a slow machine to send the request that keeps one. */
const IDLE_MS = 500;

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

const post = (url: string, message: object | string, session?: string) =>
  fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) },
    body: typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message }),
  });

async function open(url: string): Promise<string> {
  const response = await post(url, initialize);
  await response.text();
  return String(response.headers.get('mcp-session-id'));
}

/** Opens a session's event stream, and says when the server has seen its client hang up. */
async function openStream(app: INestApplication, url: string, session: string) {
  const seen = deferred<ServerResponse>();
  const server = app.getHttpServer() as Server;
  server.once('request', (_request: IncomingMessage, response: ServerResponse) => seen.resolve(response));
  const request = httpRequest(url, {
    agent: false,
    headers: { accept: 'text/event-stream', 'mcp-session-id': session },
  });
  request.on('error', () => undefined);
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  const hangUp = async () => {
    const closed = once(await seen.promise, 'close');
    request.destroy();
    await closed;
  };
  return { status: response.statusCode, hangUp };
}

const call = (id: number | string, name: string) => ({ id, method: 'tools/call', params: { name } });

describe.each(platforms())('sessions on %s', platform => {
  let test: TestApp;
  afterEach(() => test.close());

  it('are bounded in number, and a place is free again once one ends', async () => {
    test = await startApp([Tools], { platform, mcp: { sessions: { max: 2, maxPerCaller: 3 } } });
    const url = await test.url();
    const [first] = [await open(url), await open(url)];
    const refused = await post(url, initialize);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32000 } });
    await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': first } });
    expect((await post(url, initialize)).status).toBe(200);
  });

  it('are not opened past the bound by many at the same moment', async () => {
    test = await startApp([Tools], { platform, mcp: { sessions: { max: 5, maxPerCaller: 5 } } });
    const url = await test.url();
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(url, initialize)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
    await Promise.all(responses.map(response => response.text()));
  });

  it('leave nothing behind when their initialize is refused', async () => {
    test = await startApp([Tools], { platform, mcp: { sessions: { max: 1 } } });
    const url = await test.url();
    const refused = await fetch(url, {
      method: 'POST',
      body: initialize,
      headers: { 'content-type': 'application/json' },
    });
    expect(refused.status).toBe(406);
    expect((await post(url, initialize)).status).toBe(200);
  });

  it.each([
    ['a long name', { clientInfo: { name: 'x'.repeat(70_000), version: '1' }, capabilities: {} }],
    [
      'long capabilities',
      {
        clientInfo: { name: 'x', version: '1' },
        capabilities: { experimental: { a: { b: 'x'.repeat(70_000) } } },
      },
    ],
  ])('are not opened for a client with %s', async (_, about) => {
    test = await startApp([Tools], { platform });
    const params = { protocolVersion: '2025-11-25', ...about };
    const response = await post(await test.url(), { id: 0, method: 'initialize', params });
    expect(response.status).toBe(400);
    expect(response.headers.has('mcp-session-id')).toBe(false);
    expect(await response.json()).toMatchObject({ error: { code: -32602 } });
  });

  it('end when the client says so', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    expect((await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session } })).status).toBe(200);
    const answer = await post(url, { id: 1, method: 'tools/list' }, session);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { code: -32001 } });
  });

  it('end when they idle, but not while a request is open', async () => {
    test = await startApp([Tools], { platform, mcp: { sessions: { max: 1, idleTimeoutMs: IDLE_MS } } });
    const url = await test.url();
    const session = await open(url);
    const tools = test.app.get(Tools);
    const waiting = new Promise<void>(resolve => (tools.onWaiting = resolve));
    const call = httpRequest(url, { method: 'POST', headers: { ...headers, 'mcp-session-id': session } });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } }));
    await waiting;
    const idleAt = performance.now() + 2 * IDLE_MS;
    while (performance.now() < idleAt) expect((await post(url, initialize)).status).toBe(503);
    call.destroy();
    let status = 503;
    while (status === 503) status = (await post(url, initialize)).status;
    expect(status).toBe(200);
  });

  it('bound their subscriptions', async () => {
    test = await startApp([Tools], { platform, mcp: { sessions: { maxSubscriptions: 1 } } });
    const client = await test.client({ era: 'legacy' });
    await client.subscribeResource({ uri: 'state://a' });
    await client.subscribeResource({ uri: 'state://a' });
    await expect(client.subscribeResource({ uri: 'state://b' })).rejects.toMatchObject({ code: -32000 });
    await client.unsubscribeResource({ uri: 'state://a' });
    await client.subscribeResource({ uri: 'state://b' });
    await expect(client.subscribeResource({ uri: 'state://nope' })).rejects.toThrow(/not found/i);
  });

  it('close the stream of a call that the client cancelled', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    const tools = test.app.get(Tools);
    const waiting = new Promise<void>(resolve => (tools.onWaiting = resolve));
    const answer = post(url, call('c', 'wait'), session);
    await waiting;
    await post(url, { method: 'notifications/cancelled', params: { requestId: 'c' } }, session);
    expect(await (await answer).text()).toBe('id: c.1-0\ndata: \n\n');
  });

  it.each([0, 60_000])('end an event stream as its client hangs up (keepAliveMs: %d)', async keepAliveMs => {
    test = await startApp([Tools], { platform, mcp: { http: { keepAliveMs } } });
    const url = await test.url();
    const session = await open(url);
    const first = await openStream(test.app, url, session);
    expect(first.status).toBe(200);
    await first.hangUp();
    const second = await openStream(test.app, url, session);
    expect(second.status).toBe(200);
    await second.hangUp();
  });

  it('idle once the client of their event stream has hung up', async () => {
    test = await startApp([Tools], {
      platform,
      mcp: { http: { keepAliveMs: 0 }, sessions: { max: 1, idleTimeoutMs: IDLE_MS } },
    });
    const url = await test.url();
    const stream = await openStream(test.app, url, await open(url));
    await stream.hangUp();
    let status = 503;
    while (status === 503) status = (await post(url, initialize)).status;
    expect(status).toBe(200);
  });

  it('let a call whose client hung up be made again under its id', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    const tools = test.app.get(Tools);
    const waiting = new Promise<void>(resolve => (tools.onWaiting = resolve));
    const closed = deferred();
    (test.app.getHttpServer() as Server).once('request', (_request, response: ServerResponse) =>
      response.once('close', () => closed.resolve()),
    );
    const hungUp = new AbortController();
    const first = fetch(url, {
      method: 'POST',
      headers: { ...headers, 'mcp-session-id': session },
      body: JSON.stringify({ jsonrpc: '2.0', ...call(1, 'held') }),
      signal: hungUp.signal,
    });
    await waiting;
    hungUp.abort();
    await expect(first).rejects.toThrow();
    await closed.promise;
    tools.release.resolve();
    const again = await post(url, call(1, 'held'), session);
    expect(again.status).toBe(200);
    expect(await again.text()).toContain('at last');
  });

  it('bound the length of what they are subscribed to', async () => {
    test = await startApp([Tools], { platform });
    const client = await test.client({ era: 'legacy' });
    const uri = (index: number) => `long://${index}${'x'.repeat(7999 - 'long://'.length)}`;
    for (let index = 0; index < 8; index += 1) await client.subscribeResource({ uri: uri(index) });
    await client.subscribeResource({ uri: uri(0) });
    await expect(client.subscribeResource({ uri: uri(8) })).rejects.toMatchObject({
      code: -32000,
      message: expect.stringMatching(/too many subscriptions: at most 65536 characters/i),
    });
    await client.unsubscribeResource({ uri: uri(0) });
    await client.unsubscribeResource({ uri: uri(0) });
    await client.subscribeResource({ uri: uri(8) });
    await expect(client.subscribeResource({ uri: uri(0) })).rejects.toMatchObject({ code: -32000 });
  });

  it('refuse an id that is in use, and answer its first request as usual', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    const tools = test.app.get(Tools);
    const waiting = new Promise<void>(resolve => (tools.onWaiting = resolve));
    const first = post(url, call('same', 'held'), session);
    await waiting;
    const alone = await post(url, call('same', 'held'), session);
    expect(alone.status).toBe(400);
    expect(await alone.json()).toEqual({
      jsonrpc: '2.0',
      id: 'same',
      error: { code: -32600, message: expect.stringMatching(/^[^"]*id[^"]*$/) },
    });
    const batch = JSON.stringify([5, 'same'].map(id => ({ jsonrpc: '2.0', id, method: 'ping' })));
    const among = await post(url, batch, session);
    expect(among.status).toBe(400);
    expect(await among.json()).toMatchObject({ id: 'same', error: { code: -32600 } });
    // Neither the other of the batch, nor an id that merely looks alike, is in use.
    expect((await post(url, { id: 5, method: 'ping' }, session)).status).toBe(200);
    tools.release.resolve();
    expect(await (await first).text()).toContain('at last');
    const next = await post(url, call('same', 'held'), session);
    expect(await next.text()).toContain('at last');
  });

  it('refuse a long id, which they would have to keep', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    const ping = (length: number) => post(url, { id: 'x'.repeat(length), method: 'ping' }, session);
    expect((await ping(1024)).status).toBe(200);
    const refused = await ping(1025);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32600, message: 'Invalid Request: an id has at most 1024 characters' },
    });
  });

  it('answer the rest of a batch of which one call was cancelled', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    const tools = test.app.get(Tools);
    const waiting = new Promise<void>(resolve => (tools.onWaiting = resolve));
    const calls = [call(1, 'wait'), call(2, 'held')].map(message => ({ jsonrpc: '2.0', ...message }));
    const answer = post(url, JSON.stringify(calls), session);
    await waiting;
    await post(url, { method: 'notifications/cancelled', params: { requestId: 1 } }, session);
    expect((await post(url, { id: 2, method: 'ping' }, session)).status).toBe(400);
    tools.release.resolve();
    expect(await (await answer).text()).toContain('at last');
    expect((await post(url, { id: 2, method: 'ping' }, session)).status).toBe(200);
  });

  it('give an id that a batch has cancelled itself to the next call', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 7 } };
    const batch = [cancelled, call(7, 'numbered')].map(message => ({ jsonrpc: '2.0', ...message }));
    await (await post(url, JSON.stringify(batch), session)).text();
    const tools = test.app.get(Tools);
    const waiting = new Promise<void>(resolve => (tools.onWaiting = resolve));
    const next = post(url, call(7, 'numbered'), session);
    await waiting;
    // The call that was cancelled ends first, before a ping that comes after it.
    tools.release.resolve();
    await (await post(url, { id: 8, method: 'ping' }, session)).text();
    tools.releaseLater.resolve();
    expect(await (await next).text()).toContain('call 2');
  });

  it('refuse a batch that uses an id twice', async () => {
    test = await startApp([Tools], { platform });
    const url = await test.url();
    const session = await open(url);
    const batch = JSON.stringify([1, '1', 7, 7].map(id => ({ jsonrpc: '2.0', id, method: 'ping' })));
    const refused = await post(url, batch, session);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ id: 7, error: { code: -32600 } });
    const fine = await post(url, batch.replace('"id":7', '"id":8'), session);
    expect(fine.status).toBe(200);
    expect((await fine.text()).match(/"result"/g)).toHaveLength(4);
  });

  describe('belong to the caller that opened them', () => {
    interface Caller {
      readonly auth?: object;
      readonly user?: unknown;
    }

    const as = (url: string, caller: Caller, body: string, session?: string) =>
      fetch(url, {
        method: 'POST',
        headers: {
          ...headers,
          'x-caller': JSON.stringify(caller),
          ...(session !== undefined && { 'mcp-session-id': session }),
        },
        body,
      });

    /** What an application's own authentication does. */
    const authenticate = {
      canActivate(context: ExecutionContext) {
        const request = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
        Object.assign(request, JSON.parse(request.headers['x-caller']));
        return true;
      },
    };

    const auth = (clientId: string, sub?: string) => ({ token: 't', clientId, scopes: [], extra: { sub } });
    const ALICE: Caller = { auth: auth('app', 'alice'), user: { id: 1, username: 'alice' } };
    const OTHERS: [string, Caller, Caller][] = [
      ['another client', ALICE, { ...ALICE, auth: auth('other', 'alice') }],
      ['another subject', ALICE, { ...ALICE, auth: auth('app', 'bob') }],
      ['no subject', ALICE, { ...ALICE, auth: auth('app') }],
      ['another user id', ALICE, { ...ALICE, user: { id: 2, username: 'alice' } }],
      ['another user name', ALICE, { ...ALICE, user: { id: 1, username: 'bob' } }],
      ['another user sub', { user: { sub: 'a' } }, { user: { sub: 'b' } }],
      ['another compound id', { user: { id: { n: 1 } } }, { user: { id: { n: 2 } } }],
      [
        'another user of whom only other things are known',
        { user: { email: 'a' } },
        { user: { email: 'b' } },
      ],
      ['a user with another list', { user: { roles: [{ of: 'a' }] } }, { user: { roles: [{ of: 'b' }] } }],
      ['another name for a user', { user: 'alice' }, { user: 'bob' }],
      ['no user', { user: { id: 1 } }, {}],
      ['no authentication', ALICE, {}],
      ['authentication', {}, ALICE],
    ];

    it.each(OTHERS)('not to one with %s', async (_what, owner, other) => {
      test = await startApp([Tools], { platform, configure: app => app.useGlobalGuards(authenticate) });
      const url = await test.url();
      const opened = await as(url, owner, initialize);
      await opened.text();
      const session = String(opened.headers.get('mcp-session-id'));
      const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const refused = await as(url, other, ping, session);
      expect(refused.status).toBe(404);
      expect(await refused.json()).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32001, message: 'Session not found' },
      });
      expect((await as(url, owner, ping, session)).status).toBe(200);
    });
  });
});
