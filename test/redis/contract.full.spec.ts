import { Logger } from '@nestjs/common';
import { contracts } from 'nestjs-mcp/testing';
import { createClient } from 'redis';
import { connectionTo } from '../../lib/redis/connection-to.js';
import type { RedisLink } from '../../lib/redis/redis-link.js';
import { RedisCountStore } from '../../lib/redis/redis-count-store.js';
import { RedisEventStore } from '../../lib/redis/redis-event-store.js';
import { RedisMessageBus } from '../../lib/redis/redis-message-bus.js';
import { redisLimiter } from '../../lib/redis/redis-limiter.js';
import { RedisMrtrStore } from '../../lib/redis/redis-mrtr-store.js';
import { resolveRedisOptions, type McpRedisOptions } from '../../lib/redis/redis-options.js';
import { RedisSessionStore } from '../../lib/redis/redis-session-store.js';
import { RedisTaskStore } from '../../lib/redis/redis-task-store.js';
import { RedisCluster } from './redis-cluster.js';
import { SentinelGroup } from './redis-sentinel.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

/** Where the stores are kept. */
interface Place {
  readonly options: McpRedisOptions;
  start(): Promise<void>;
  kill(): Promise<void>;
}

describeWithRedis.each<[string, () => Place]>([
  ['Redis', () => new RedisServer()],
  ['a cluster', () => new RedisCluster()],
  ['a primary with a Sentinel', () => new SentinelGroup()],
])('%s', (_name, make) => {
  const place = make();
  const connections: RedisLink[] = [];
  beforeAll(async () => {
    Logger.overrideLogger(false);
    await place.start();
  }, 60_000);
  afterEach(() => Promise.all(connections.splice(0).map(connection => connection.close())));
  afterAll(() => place.kill());

  const connect = async () => {
    const connection = await connectionTo(resolveRedisOptions(place.options));
    connections.push(connection);
    await connection.open();
    return connection;
  };
  const checks = {
    'as a store': contracts.mrtrStore(async () => new RedisMrtrStore(await connect(), 'a:')),
    'as a bus': contracts.messageBus(async () => new RedisMessageBus(await connect(), 'a:')),
    'for sessions': contracts.sessionStore(async () => new RedisSessionStore(await connect(), 'a:')),
    'for tasks': contracts.taskStore(async () => new RedisTaskStore(await connect(), 'a:')),
    'for events': contracts.eventStore(async () => new RedisEventStore(await connect(), 'a:')),
  };
  for (const [kind, rows] of Object.entries(checks)) {
    for (const { name, run } of rows) it(`${kind}: ${name}`, run);
  }
});

describeWithRedis('a store', () => {
  const redis = new RedisServer();
  beforeAll(() => redis.start());
  afterAll(() => redis.kill());

  it('knows no open stream whose requests are no list in JSON', async () => {
    const connection = await connectionTo(resolveRedisOptions({ url: redis.url }));
    await connection.open();
    const admin = await createClient({ url: redis.url }).connect();
    await admin.hSet('forged:open:{s}', { 'c.1': '{', 'c.2': '7', 'c.3': '[7]' });
    const streams = await new RedisEventStore(connection, 'forged:').openStreams('s');
    expect(Object.fromEntries(streams)).toEqual({ 'c.3': [7] });
    admin.destroy();
    await connection.close();
  });

  it('adds what the other nodes hold, but for what has expired and what is no count', async () => {
    const connection = await connectionTo(resolveRedisOptions({ url: redis.url }));
    await connection.open();
    const admin = await createClient({ url: redis.url }).connect();
    const store = new RedisCountStore(connection, 'counts:');
    await admin.hSet('counts:count:{k}', { stray: 'text', old: '7 1' });
    expect(await store.exchange('k', 'a', 3, 60_000)).toBe(0);
    expect(await store.exchange('k', 'b', 4, 60_000)).toBe(3);
    expect(await store.exchange('k', 'a', 5, 60_000)).toBe(4);
    expect(Object.keys(await admin.hGetAll('counts:count:{k}')).sort()).toEqual(['a', 'b']);
    expect(await store.exchange('k', 'a', 0, 60_000)).toBe(4);
    expect(await store.exchange('k', 'b', 0, 60_000)).toBe(0);
    expect(await admin.exists('counts:count:{k}')).toBe(0);
    admin.destroy();
    await connection.close();
  });

  it('takes half of the points of a limit in blocks, and then each alone', async () => {
    const connection = await connectionTo(resolveRedisOptions({ url: redis.url }));
    await connection.open();
    const admin = await createClient({ url: redis.url }).connect();
    const limits = { name: 'l', points: 1000, duration: 600 };
    const nodes = [1, 2].map(() => redisLimiter(connection, 'blocks:', limits));
    await admin.configResetStat();
    let given = 0;
    for (let call = 0; call < 1100; call++) {
      const isGiven = await nodes[call % 2].consume('caller').then(
        () => true,
        () => false,
      );
      if (isGiven) given += 1;
    }
    // What a node has taken in its last block, and did not need, is lost.
    expect(given).toBeGreaterThan(980);
    expect(given).toBeLessThanOrEqual(1000);
    const [, count] = /cmdstat_incrby:calls=(\d+)/.exec(await admin.info('commandstats'))!;
    expect(Number(count)).toBeLessThan(700);
    admin.destroy();
    await connection.close();
  });

  it('gives each point of a limit once to calls that run together', async () => {
    const connection = await connectionTo(resolveRedisOptions({ url: redis.url }));
    await connection.open();
    const { consume } = redisLimiter(connection, 'together:', { name: 'l', points: 1000, duration: 600 });
    let given = 0;
    for (let count = 0; count < 11; count++) {
      const results = await Promise.allSettled(Array.from({ length: 100 }, () => consume('caller')));
      given += results.filter(({ status }) => status === 'fulfilled').length;
    }
    expect(given).toBeGreaterThan(980);
    expect(given).toBeLessThanOrEqual(1000);
    await connection.close();
  });

  it('reads an event once that was written twice', async () => {
    const connection = await connectionTo(resolveRedisOptions({ url: redis.url }));
    await connection.open();
    const store = new RedisEventStore(connection, 'twice:');
    const append = (...sequences: number[]) =>
      store.append('s', {
        stream: 'c.1',
        events: sequences.map(sequence => ({ stream: 'c.1', sequence, json: '{}' })),
      });
    await append(1, 2);
    await append(1, 2, 3);
    await append(4);
    const numbersAfter = async (last: number) =>
      (await store.after('s', 'c.1', last)).map(({ sequence }) => sequence);
    expect(await numbersAfter(0)).toEqual([1, 2, 3, 4]);
    expect(await numbersAfter(1)).toEqual([2, 3, 4]);
    await connection.close();
  });

  it('sends the text of a script once, and again when Redis has forgotten it', async () => {
    const connection = await connectionTo(resolveRedisOptions({ url: redis.url }));
    await connection.open();
    const admin = await createClient({ url: redis.url }).connect();
    const events = new RedisEventStore(connection, 'scripts:');
    const append = (sequence: number) =>
      events.append('s', { stream: 'l.1', events: [{ stream: 'l.1', sequence, json: '{}' }] });
    const texts = async () => {
      const info = await admin.info('commandstats');
      return Number(/cmdstat_eval:calls=(\d+)/.exec(info)?.[1] ?? 0);
    };
    const flush = () => admin.scriptFlush();
    await flush();
    const before = await texts();
    for (const sequence of [1, 2, 3]) await append(sequence);
    expect(await texts()).toBe(before + 1);
    await flush();
    await append(4);
    expect(await texts()).toBe(before + 2);
    expect(await events.after('s', 'l.1', 0)).toHaveLength(4);
    admin.destroy();
    await connection.close();
  });
});
