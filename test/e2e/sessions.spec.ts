import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Resource, Tool } from 'nestjs-mcp';
import { PLATFORMS, startApp, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Tools {
  onWaiting: () => void = () => undefined;

  @Tool()
  async wait(@Ctx() { signal }: McpContext) {
    this.onWaiting();
    await once(signal, 'abort');
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

describe.each(PLATFORMS)('sessions on %s', platform => {
  let test: TestApp;
  afterEach(() => test.close());

  it('are bounded in number, and a place is free again once one ends', async () => {
    test = await startApp([Tools], { platform, mcp: { sessions: { max: 2 } } });
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
    test = await startApp([Tools], { platform, mcp: { sessions: { max: 5 } } });
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
    test = await startApp([Tools], { platform, mcp: { sessions: { max: 1, idleTimeoutMs: 50 } } });
    const url = await test.url();
    const session = await open(url);
    const tools = test.app.get(Tools);
    const waiting = new Promise<void>(resolve => (tools.onWaiting = resolve));
    const call = httpRequest(url, { method: 'POST', headers: { ...headers, 'mcp-session-id': session } });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } }));
    await waiting;
    const full = Array.from({ length: 4 }, async () => (await post(url, initialize)).status);
    expect(new Set(await Promise.all(full))).toEqual(new Set([503]));
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
    const call = post(url, { id: 'c', method: 'tools/call', params: { name: 'wait' } }, session);
    await waiting;
    await post(url, { method: 'notifications/cancelled', params: { requestId: 'c' } }, session);
    expect(await (await call).text()).toBe('');
  });
});
