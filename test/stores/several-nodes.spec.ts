import { MemoryTaskStore } from 'nestjs-mcp/tasks';
import { Global, Module } from '@nestjs/common';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { McpServerRegistry, MemoryEventStore, MemoryMrtrStore } from 'nestjs-mcp';
import { RateLimit } from 'nestjs-mcp/interceptors';
import type { MessageBus } from 'nestjs-mcp/redis';
import { MemoryMessageBus, MemorySessionStore } from 'nestjs-mcp/testing';
import { SHARED, type SharedState } from '../../lib/stores/shared-state.js';
import { send } from '../fixtures/raw-client.js';
import { Inbox } from '../fixtures/inbox.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { PRICES, SECRET, Shop } from '../redis/shop.js';

describe('the nodes of a server with a "bus"', () => {
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));

  const startNode = async (bus: MessageBus, log?: LogSpy) => {
    const app = await startApp([Shop], { mcp: { bus }, configure: app => log && app.useLogger(log) });
    apps.push(app);
    return app;
  };

  it('tell clients of changes on each other, each once', async () => {
    const bus = new MemoryMessageBus();
    const [one, other] = [await startNode(bus), await startNode(bus)];
    const told = new Inbox<string>();
    const client = await other.client();
    client.setNotificationHandler('notifications/prompts/list_changed', () => told.put('prompts'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.put(params.uri));
    await client.listen({ promptsListChanged: true, resourceSubscriptions: [PRICES] });
    await (await one.client()).callTool({ name: 'change' });
    one.app.get(McpServerRegistry).disable('prompt', 'greet');
    other.app.get(McpServerRegistry).resourceUpdated(PRICES);
    other.app.get(McpServerRegistry).disable('prompt', 'greet');
    const heard = [await told.take(), await told.take(), await told.take(), await told.take()];
    expect(heard).toEqual([PRICES, 'prompts', PRICES, 'prompts']);
  });

  it('start and work without it where it fails, with one warning', async () => {
    const log = new LogSpy();
    const fail = () => Promise.reject(new Error('no connection'));
    const { app } = await startNode({ publish: fail, subscribe: fail }, log);
    const registry = app.get(McpServerRegistry);
    registry.resourceUpdated(PRICES);
    registry.resourceUpdated(PRICES);
    expect(log.warnings.filter(line => line.includes('"bus"'))).toEqual([
      expect.stringContaining('Nodes miss changes of other nodes ("bus"): no connection'),
    ]);
  });

  it('stop listening when they close', async () => {
    const stop = jest.fn().mockResolvedValue(undefined);
    const { app } = await startNode({ publish: async () => undefined, subscribe: async () => stop });
    expect(stop).not.toHaveBeenCalled();
    await app.close();
    expect(stop).toHaveBeenCalledTimes(1);
  });
});

describe('a module that shares a bus, a store and limiters', () => {
  const consume = jest.fn().mockResolvedValue({});
  const shared: SharedState = {
    ping: async () => undefined,
    bus: new MemoryMessageBus(),
    store: new MemoryMrtrStore(),
    sessions: new MemorySessionStore(),
    events: new MemoryEventStore(),
    tasks: new MemoryTaskStore(),
    limiter: jest.fn().mockReturnValue({ consume }),
  };
  const published = jest.spyOn(shared.bus, 'publish');
  const used = [jest.spyOn(shared.store, 'set'), consume];

  @Global()
  @Module({ providers: [{ provide: SHARED, useValue: shared }], exports: [SHARED] })
  class SharedModule {}

  const mrtr = { secret: SECRET, maxStateBytes: 1 };
  const limiter = new RateLimiterMemory({ points: 1, duration: 60 });
  beforeEach(() => jest.clearAllMocks());

  it.each([
    ['is used by servers and interceptors', {}, {}, 1],
    [
      'is not used where options say otherwise',
      { bus: new MemoryMessageBus(), mrtr: { ...mrtr, store: new MemoryMrtrStore() } },
      { limiter },
      0,
    ],
  ])('%s', async (_, mcp, limit, times) => {
    const node = await startApp([Shop, RateLimit({ ...limit, when: { name: 'hello' } })], {
      mcp: { mrtr, ...mcp },
      module: { imports: [SharedModule] },
    });
    node.app.get(McpServerRegistry).resourceUpdated(PRICES);
    const url = await node.url();
    expect((await send(url, { name: 'buy' })).result?.resultType).toBe('input_required');
    expect((await send(url, { name: 'hello' })).result?.isError).toBeFalsy();
    for (const use of used) expect(use).toHaveBeenCalledTimes(times);
    expect(published.mock.calls.filter(([channel]) => channel.startsWith('events:'))).toHaveLength(times);
    await node.close();
  });
});
