import { Module, type DynamicModule } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { McpTasksModule, MemoryTaskStore } from 'nestjs-mcp/tasks';
import { McpHealthIndicator, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listen, type Running } from '../gateway/support.js';
import { describeWithRedis, RedisServer } from '../redis/redis-server.js';

function start(server: DynamicModule, others: DynamicModule[] = [], port = 0): Promise<Running> {
  @Module({ imports: [server, McpTelemetryModule.forRoot(), ...others] })
  class AppModule {}
  return listen(AppModule, port);
}

const readinessOf = async ({ app }: Running, timeoutMs = 5000) =>
  (await app.get(McpHealthIndicator).readiness('mcp', { timeoutMs })).mcp;

/** Waits until the application is ready again: it tries to connect by itself, after pauses. */
async function untilReady(running: Running): Promise<void> {
  while ((await readinessOf(running)).status === 'down') await nextTurn();
}

describeWithRedis('readiness with Redis, and tasks in it', () => {
  const redis = new RedisServer();
  let running: Running;
  beforeAll(async () => {
    await redis.start();
    running = await start(McpModule.forRoot({ name: 'test', version: '1.0.0' }), [
      McpRedisModule.forRoot({ url: redis.url }),
      McpTasksModule.forRoot(),
    ]);
  });
  afterAll(async () => {
    redis.thaw();
    await running.app.close();
    await redis.kill();
  });

  const expectDown = async () =>
    expect(await readinessOf(running, 200)).toEqual({
      status: 'down',
      servers: { test: 'up' },
      redis: 'down',
      stores: { tasks: 'down' },
    });
  const expectUp = async () => {
    await untilReady(running);
    expect(await readinessOf(running)).toEqual({
      status: 'up',
      servers: { test: 'up' },
      redis: 'up',
      stores: { tasks: 'up' },
    });
  };

  it('is up, and down while Redis is gone', async () => {
    await expectUp();
    await redis.kill();
    await expectDown();
    expect(running.app.get(McpHealthIndicator).liveness()).toEqual({ mcp: { status: 'up' } });
    await redis.start();
    await expectUp();
  });

  it('is down while Redis answers nothing', async () => {
    redis.freeze();
    await expectDown();
    redis.thaw();
    await expectUp();
  });
});

it('is down while a store of tasks that is not Redis fails', async () => {
  class FailingStore extends MemoryTaskStore {
    isAway = false;

    override async get(id: string) {
      if (this.isAway) throw new Error('The database is away');
      return super.get(id);
    }
  }
  const store = new FailingStore();
  const running = await start(McpModule.forRoot({ name: 'test', version: '1.0.0' }), [
    McpTasksModule.forRoot({ store }),
  ]);
  const expected = (status: 'up' | 'down') => ({
    status,
    servers: { test: 'up' },
    stores: { tasks: status },
  });
  expect(await readinessOf(running)).toEqual(expected('up'));
  store.isAway = true;
  expect(await readinessOf(running)).toEqual(expected('down'));
  store.isAway = false;
  expect(await readinessOf(running)).toEqual(expected('up'));
  await running.app.close();
});

const server = (name: string, expose = false) =>
  McpModule.forRoot({
    name,
    version: '1.0.0',
    ...(expose && { interceptors: { expose: true, apply: false } }),
  });

describe.each([
  ...(['modern', 'legacy'] as const).map(
    era =>
      [
        `the ${era} backend of a gateway`,
        'backends',
        (url: string) =>
          McpGatewayModule.forRoot({ name: 'front', backend: { url, era, reconnectDelayMs: 10 } }),
        'front',
      ] as const,
  ),
  [
    'an interceptor host',
    'interceptorHosts',
    (url: string) =>
      McpModule.forRoot({
        name: 'front',
        version: '1.0.0',
        interceptors: { servers: [{ name: 'policy', url, reconnectDelayMs: 10 }] },
      }),
    'policy',
  ],
] as const)('readiness with %s', (_, member, front, name) => {
  it('is down while it is gone, and up again', async () => {
    let behind = await start(server('behind', true));
    const port = Number(new URL(behind.url).port);
    const running = await start(front(behind.url));
    const expected = (status: 'up' | 'down') => ({
      status,
      servers: { front: 'up' },
      [member]: { [name]: status },
    });
    expect(await readinessOf(running)).toEqual(expected('up'));
    await behind.app.close();
    expect(await readinessOf(running)).toEqual(expected('down'));
    behind = await start(server('behind', true), [], port);
    await untilReady(running);
    expect(await readinessOf(running)).toEqual(expected('up'));
    await running.app.close();
    await behind.app.close();
  });
});
