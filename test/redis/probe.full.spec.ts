import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Logger } from '@nestjs/common';
import { contracts } from 'nestjs-mcp/testing';
import { createClient } from 'redis';
import { connectionTo } from '../../lib/redis/connection-to.js';
import { RedisEventStore } from '../../lib/redis/redis-event-store.js';
import { redisLimiter } from '../../lib/redis/redis-limiter.js';
import { RedisMessageBus } from '../../lib/redis/redis-message-bus.js';
import { RedisMrtrStore } from '../../lib/redis/redis-mrtr-store.js';
import { RedisSessionStore } from '../../lib/redis/redis-session-store.js';
import { RedisTaskStore } from '../../lib/redis/redis-task-store.js';
import { resolveRedisOptions } from '../../lib/redis/redis-options.js';
import { freePort } from '../../sample/support/free-port.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

describeWithRedis('a Redis that the stores cannot use', () => {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  let log: LogSpy;
  let redis: RedisServer | undefined;

  beforeEach(() => Logger.overrideLogger((log = new LogSpy())));
  afterEach(async () => {
    await redis?.kill();
    redis = undefined;
  });
  afterAll(() => {
    Logger.overrideLogger(false);
    rmSync(folder, { recursive: true });
  });

  const reasonFor = async (url: string) => {
    const connection = await connectionTo(resolveRedisOptions({ url }));
    await connection.open();
    await expect(connection.run(client => client.ping())).rejects.toThrow('not open');
    await connection.close();
    return log.warnings.join();
  };

  it('is a node of a cluster', async () => {
    redis = new RedisServer(undefined, [
      '--cluster-enabled',
      'yes',
      '--cluster-config-file',
      join(folder, 'nodes.conf'),
    ]);
    await redis.start();
    expect(await reasonFor(redis.url)).toContain('it is a node of a Redis Cluster: use the option "cluster"');
  });

  it('is a Sentinel', async () => {
    const port = await freePort();
    const file = join(folder, 'sentinel.conf');
    writeFileSync(file, `port ${port}\nsentinel monitor shop 127.0.0.1 1 1\n`);
    const sentinel = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: sentinel.stdout }))
      if (line.includes('Sentinel ID')) break;
    expect(await reasonFor(`redis://127.0.0.1:${port}`)).toContain('it is a Sentinel');
    sentinel.kill();
    await once(sentinel, 'exit');
  });

  it('does not let its user run a command', async () => {
    redis = new RedisServer();
    await redis.start();
    const client = createClient({ url: redis.url });
    await client.connect();
    await client.sendCommand(['ACL', 'SETUSER', 'shop', 'on', '>key', '~*', '&*', '+@all', '-time']);
    client.destroy();
    const url = redis.url.replace('redis://', 'redis://shop:key@');
    expect(await reasonFor(url)).toMatch(/time/i);
  });

  it('is usable with the rights that the documentation names', async () => {
    const page = readFileSync(join(__dirname, '../../docs/several-nodes.md'), 'utf8');
    const [listed] = /The user of Redis needs[\s\S]*?\.\n/.exec(page) ?? [];
    const rights = [...listed!.matchAll(/`([A-Z|]+)`/g)].map(([, name]) => `+${name.toLowerCase()}`);
    redis = new RedisServer();
    await redis.start();
    const client = createClient({ url: redis.url });
    await client.connect();
    await client.sendCommand([
      'ACL',
      'SETUSER',
      'shop',
      'on',
      '>key',
      '~shop:*',
      '&shop:*',
      '-@all',
      ...rights,
    ]);
    client.destroy();

    const url = redis.url.replace('redis://', 'redis://shop:key@');
    const connection = await connectionTo(resolveRedisOptions({ url, prefix: 'shop:' }));
    await connection.open();
    expect(log.warnings).toEqual([]);
    const limiter = redisLimiter(connection, 'shop:', {
      name: 'a',
      points: 2,
      duration: 10,
      blockDuration: 10,
    });
    await limiter.consume('jo', 1);
    await expect(limiter.consume('jo', 5)).rejects.toMatchObject({ consumedPoints: 6 });
    const checks = [
      ...contracts.mrtrStore(async () => new RedisMrtrStore(connection, 'shop:')),
      ...contracts.messageBus(async () => new RedisMessageBus(connection, 'shop:')),
      ...contracts.sessionStore(async () => new RedisSessionStore(connection, 'shop:')),
      ...contracts.taskStore(async () => new RedisTaskStore(connection, 'shop:')),
      ...contracts.eventStore(async () => new RedisEventStore(connection, 'shop:')),
    ];
    for (const { run } of checks) await run();
    await connection.close();
  });
});
