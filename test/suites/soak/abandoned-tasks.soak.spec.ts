import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { McpTasksModule, MemoryTaskStore, type StoredTask } from 'nestjs-mcp/tasks';
import { createClient } from 'redis';
import { startApp, type TestApp } from '../../fixtures/matrix.js';
import { soakSize } from '../../fixtures/soak.js';
import { describeWithRedis, RedisServer } from '../../redis/redis-server.js';
import { send } from '../../tasks/task-client.js';

const TASKS = soakSize(10_000, 500);
/** Each of so many tasks asks its client, which never answers. */
const ASKING = 50;
const TTL_MS = soakSize(120_000, 5000);
const CLIENTS = 16;

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

const heapUsed = (): number => {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } } as const;

@Injectable()
class Work {
  @Tool({ task: 'required' })
  async waits(@Ctx() { signal }: McpContext) {
    await once(signal, 'abort');
    signal.throwIfAborted();
  }

  @Tool({ task: { mode: 'required', retry: true } })
  async asks(@Ctx() ctx: McpContext) {
    await ctx.elicit('name', { message: 'Who?', schema: SCHEMA });
    return 'done';
  }

  @Tool({ task: 'required' })
  ends() {
    return 'done'.repeat(100);
  }
}

class CountedTasks extends MemoryTaskStore {
  count = 0;
  /** How many there were in all, because some expire before the last is created. */
  created = 0;

  override async create(task: StoredTask): Promise<void> {
    await super.create(task);
    this.count++;
    this.created++;
  }

  override async delete(id: string): Promise<void> {
    await super.delete(id);
    this.count--;
  }
}

const CAPS = { max: 100_000, maxPerCaller: 100_000 };

describeWithRedis(`${TASKS} abandoned tasks`, () => {
  const redis = new RedisServer();
  const store = new CountedTasks();
  const apps: TestApp[] = [];
  let client: ReturnType<typeof createClient>;

  const start = async (modules: object[], own: { store?: MemoryTaskStore } = {}): Promise<string> => {
    const app = await startApp([Work], {
      mcp: { calls: CAPS, mrtr: { suspension: { maxPerCaller: 1000 } } },
      module: {
        imports: [
          ...(modules as []),
          McpTasksModule.forRoot({ ...CAPS, ttlMs: TTL_MS, leaseMs: 30_000, ...own }),
        ],
      },
    });
    apps.push(app);
    return app.url();
  };

  beforeAll(async () => {
    await redis.start();
    client = createClient({ url: redis.url });
    await client.connect();
  });
  afterAll(async () => {
    await Promise.all(apps.map(app => app.close()));
    client.destroy();
    await redis.kill();
  });

  /** Without the buffers of its connections. */
  const usedByRedis = async () => Number(/used_memory_dataset:(\d+)/.exec(await client.info('memory'))![1]);

  it('leave nothing behind, in memory and in Redis', async () => {
    const shared = McpRedisModule.forRoot({ url: redis.url, prefix: 'soak:', commandTimeoutMs: 5000 });
    const urls = [await start([], { store }), await start([shared])];

    const abandon = (count: number) =>
      Promise.all(
        urls.flatMap(url =>
          Array.from({ length: CLIENTS }, async (_, offset) => {
            for (let index = offset; index < count; index += CLIENTS) {
              const name = index % ASKING === 0 ? 'asks' : index % 2 === 0 ? 'waits' : 'ends';
              const { result, error } = await send(url, 'tools/call', { name, arguments: {} });
              if (!result?.taskId) throw new Error(JSON.stringify(error));
            }
          }),
        ),
      );
    const gone = async (keys: number) => {
      while (store.count > 0 || (await client.dbSize()) > keys) await pause(500);
    };

    const keys = await client.dbSize();
    await abandon(CLIENTS);
    await gone(keys);
    const { created } = store;
    const before = { heap: heapUsed(), redis: await usedByRedis() };
    await abandon(TASKS);
    expect(store.created - created).toBe(TASKS);
    expect(await client.dbSize()).toBeGreaterThan(keys);
    await gone(keys);
    // A task that left 200 bytes in a process would leave 4 MB in both.
    expect(heapUsed()).toBeLessThan(before.heap + 3_000_000);
    expect(await usedByRedis()).toBeLessThan(before.redis + 500_000);
  }, 900_000);
});
