import { Logger } from '@nestjs/common';
import { contracts } from 'nestjs-mcp/testing';
import { connectionTo } from '../../lib/redis/connection-to.js';
import type { RedisConnection } from '../../lib/redis/redis-connection.js';
import { RedisEventStore } from '../../lib/redis/redis-event-store.js';
import { RedisMessageBus } from '../../lib/redis/redis-message-bus.js';
import { RedisMrtrStore } from '../../lib/redis/redis-mrtr-store.js';
import { resolveRedisOptions } from '../../lib/redis/redis-options.js';
import { RedisSessionStore } from '../../lib/redis/redis-session-store.js';
import { RedisTaskStore } from '../../lib/redis/redis-task-store.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

describeWithRedis('Redis', () => {
  const redis = new RedisServer();
  const connections: RedisConnection[] = [];
  beforeAll(async () => {
    Logger.overrideLogger(false);
    await redis.start();
  });
  afterEach(() => Promise.all(connections.splice(0).map(connection => connection.close())));
  afterAll(() => redis.kill());

  const connect = async () => {
    const connection = await connectionTo(resolveRedisOptions({ url: redis.url }));
    connections.push(connection);
    await connection.open();
    return connection;
  };

  for (const { name, run } of contracts.mrtrStore(async () => new RedisMrtrStore(await connect(), 'a:'))) {
    it(`as a store: ${name}`, run);
  }
  for (const { name, run } of contracts.messageBus(async () => new RedisMessageBus(await connect(), 'a:'))) {
    it(`as a bus: ${name}`, run);
  }
  for (const { name, run } of contracts.sessionStore(
    async () => new RedisSessionStore(await connect(), 'a:'),
  )) {
    it(`for sessions: ${name}`, run);
  }
  for (const { name, run } of contracts.taskStore(async () => new RedisTaskStore(await connect(), 'a:'))) {
    it(`for tasks: ${name}`, run);
  }
  for (const { name, run } of contracts.eventStore(async () => new RedisEventStore(await connect(), 'a:'))) {
    it(`for events: ${name}`, run);
  }

  it('gets the text of a script once, and again when it has forgotten it', async () => {
    const connection = await connect();
    const events = new RedisEventStore(connection, 'scripts:');
    const append = (sequence: number) => events.append('s', { stream: 'l.1', sequence, json: '{}' });
    const texts = async () => {
      const info = await connection.run(client => client.info('commandstats'));
      return Number(/cmdstat_eval:calls=(\d+)/.exec(info)?.[1] ?? 0);
    };
    const flush = () => connection.run(client => client.scriptFlush());
    await flush();
    const before = await texts();
    for (const sequence of [1, 2, 3]) await append(sequence);
    expect(await texts()).toBe(before + 1);
    await flush();
    await append(4);
    expect(await texts()).toBe(before + 2);
    expect(await events.after('s', 'l.1', 0)).toHaveLength(4);
  });
});
