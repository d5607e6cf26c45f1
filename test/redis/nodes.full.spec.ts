import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient } from 'redis';
import { McpServerRegistry, type McpModuleOptions } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { send } from '../fixtures/raw-client.js';
import { Inbox } from '../fixtures/inbox.js';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { openSession, post } from '../fixtures/raw-session.js';
import { ERAS, type Era } from '../gateway/support.js';
import { describeWithRedis, RedisServer } from './redis-server.js';
import { Limit, OVERSIZED, PRICES, Shop, SINGLE_USE, YES } from './shop.js';

const fixtures = join(__dirname, '../fixtures');
const INVALID_STATE = { code: -32602, data: { reason: 'invalid_request_state' } };

describeWithRedis('two nodes that share one Redis', () => {
  const redis = new RedisServer();
  let apps: TestApp[] = [];
  beforeAll(() => redis.start());
  afterEach(async () => {
    await Promise.all(apps.map(app => app.close()));
    apps = [];
  });
  afterAll(() => redis.kill());

  const startNode = async (prefix: string, mrtr?: McpModuleOptions['mrtr']): Promise<TestApp> => {
    const app = await startApp([Shop, Limit], {
      mcp: { mrtr },
      module: { imports: [McpRedisModule.forRoot({ url: redis.url, prefix })] },
      forceCloseConnections: true,
    });
    apps.push(app);
    return app;
  };
  const startNodes = async (mrtr?: McpModuleOptions['mrtr']) => {
    const prefix = `${randomUUID()}:`;
    return { prefix, nodes: [await startNode(prefix, mrtr), await startNode(prefix, mrtr)] as const };
  };

  describe.each(ERAS)('and a client that listens (%s)', era => {
    it('tell it once of what changes on either node', async () => {
      const { nodes } = await startNodes();
      const [one, other] = nodes;
      const told = await listen(await other.client({ era }), era);
      const caller = await one.client();
      const expected: string[] = [];
      for (const node of [one, other, one]) {
        const registry = node.app.get(McpServerRegistry);
        await registry.add('tool', { name: 'late' }, () => 'late');
        await caller.callTool({ name: 'change' });
        registry.disable('prompt', 'greet');
        registry.remove('tool', 'late');
        registry.enable('prompt', 'greet');
        expected.push('tools', PRICES, 'prompts', 'tools', 'prompts');
      }
      const heard: string[] = [];
      while (heard.length < expected.length) heard.push(await told.take());
      expect(heard.sort()).toEqual(expected.sort());
    });
  });

  it.each(ERAS)('tell a client of a node on stdio of what changes on the other (%s)', async era => {
    const prefix = `${randomUUID()}:`;
    const node = await startNode(prefix);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'redis-stdio-app.ts')],
      env: { PATH: process.env['PATH'] ?? '', REDIS_URL: redis.url, REDIS_PREFIX: prefix },
    });
    const versionNegotiation = { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } as const;
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation });
    await client.connect(transport);
    const told = await listen(client, era);
    const caller = await node.client();
    await caller.callTool({ name: 'change' });
    node.app.get(McpServerRegistry).disable('prompt', 'greet');
    await caller.callTool({ name: 'change' });
    expect([await told.take(), await told.take(), await told.take()]).toEqual([PRICES, 'prompts', PRICES]);
    await client.close();
  });

  it.each([
    ['can be used once', SINGLE_USE],
    ['is too large to travel', { ...OVERSIZED, singleUse: true }],
  ])('continue a call whose state %s, on the other node and not twice', async (_, mrtr) => {
    const { nodes } = await startNodes(mrtr);
    const [one, other] = await Promise.all(nodes.map(node => node.url()));
    const { result } = await send(one, { name: 'buy' });
    const answer = { name: 'buy', requestState: result!.requestState, inputResponses: YES };
    expect(textOf((await send(other, answer)).result!)).toBe('bought L');
    expect((await send(other, answer)).error).toMatchObject(INVALID_STATE);
    expect((await send(one, answer)).error).toMatchObject(INVALID_STATE);
  });

  it('count calls together', async () => {
    const { nodes } = await startNodes();
    const [one, other] = await Promise.all(nodes.map(node => node.client()));
    const call = async (client: Client) => textOf(await client.callTool({ name: 'limited' }));
    expect([await call(one), await call(other)]).toEqual(['within the limit', 'within the limit']);
    for (const client of [one, other])
      await expect(call(client)).rejects.toThrow('Interceptor validation failed');
  });

  it('have nothing in common with nodes of another prefix', async () => {
    const { nodes } = await startNodes(OVERSIZED);
    const stranger = await startNode(`${randomUUID()}:`, OVERSIZED);
    const told = await listen(await stranger.client(), 'modern');
    const [client, strange] = [await nodes[0].client(), await stranger.client()];
    await client.callTool({ name: 'change' });
    for (const limited of [client, client, strange, strange]) await limited.callTool({ name: 'limited' });
    const { result } = await send(await nodes[0].url(), { name: 'buy' });
    const answer = { name: 'buy', requestState: result!.requestState, inputResponses: YES };
    expect((await send(await stranger.url(), answer)).error).toMatchObject(INVALID_STATE);
    stranger.app.get(McpServerRegistry).disable('prompt', 'greet');
    expect(await told.take()).toBe('prompts');
  });

  it('leave out messages of a newer version, and what they do not know', async () => {
    const prefix = `${randomUUID()}:`;
    const node = await startNode(prefix);
    const told = await listen(await node.client(), 'modern');
    const sender = createClient({ url: redis.url });
    await sender.connect();
    const event = { kind: 'resource_updated', uri: PRICES };
    for (const message of [
      { v: 2, node: 'newer', data: event },
      { v: 1, node: 'newer', data: { kind: 'roots_list_changed' } },
      { v: 1, node: 'newer', data: { kind: 'resource_updated' } },
      { v: 1, node: 'newer' },
      [event],
      null,
      { v: 1, node: 'same', data: { kind: 'tools_list_changed' }, hint: 'unknown' },
    ]) {
      await sender.publish(`${prefix}bus:{events:test}`, JSON.stringify(message));
    }
    await sender.publish(`${prefix}bus:{events:test}`, '{');
    await sender.publish(`${prefix}bus:{events:test}`, JSON.stringify({ v: 1, node: 'same', data: event }));
    expect([await told.take(), await told.take()]).toEqual(['tools', PRICES]);
    sender.destroy();
  });

  it('keep each of many changes for many sessions', async () => {
    const { prefix, nodes } = await startNodes();
    const [node] = nodes;
    const url = await node.url();
    const sessions = 100;
    const changes = 110;
    for (let index = 0; index < sessions; index++) {
      const session = await openSession(url);
      await (
        await post(url, session, { id: 1, method: 'resources/subscribe', params: { uri: PRICES } })
      ).text();
    }
    const registry = node.app.get(McpServerRegistry);
    for (let index = 0; index < changes; index++) registry.resourceUpdated(PRICES);
    const reader = createClient({ url: redis.url });
    await reader.connect();
    let kept = 0;
    while (kept < sessions * changes) {
      const keys = await reader.keys(`${prefix}waiting:*`);
      kept = (await Promise.all(keys.map(key => reader.xLen(key)))).reduce((sum, count) => sum + count, 0);
    }
    expect(kept).toBe(sessions * changes);
    reader.destroy();
  });

  it('write only keys that begin with the prefix, and expire', async () => {
    const { prefix, nodes } = await startNodes({ ...OVERSIZED, singleUse: true });
    const url = await nodes[0].url();
    const { result } = await send(url, { name: 'buy' });
    await send(url, { name: 'buy', requestState: result!.requestState, inputResponses: YES });
    await (await nodes[0].client()).callTool({ name: 'limited' });
    const reader = createClient({ url: redis.url });
    await reader.connect();
    const keys = await reader.keys(`${prefix}*`);
    expect(keys.filter(key => !key.includes(':session:{node:'))).toHaveLength(3);
    for (const key of keys) expect(await reader.ttl(key)).toBeGreaterThan(0);
    expect(
      (await reader.keys('*')).filter(
        key => !/^[\da-f-]{36}:(mrtr|limit|session|events|waiting|offered|open):/.test(key),
      ),
    ).toEqual([]);
    reader.destroy();
  });
});

/** The notifications of a client. */
async function listen(client: Client, era: Era): Promise<Inbox<string>> {
  const told = new Inbox<string>();
  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => told.put(kind));
  }
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.put(params.uri));
  if (era === 'legacy') await client.subscribeResource({ uri: PRICES });
  else {
    await client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: [PRICES],
    });
  }
  return told;
}
