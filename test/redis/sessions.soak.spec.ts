import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { createClient } from 'redis';
import { deferred } from '../fixtures/deferred.js';
import { heapUsed, IdleSessions } from '../fixtures/idle-sessions.js';
import { anyPlatform, startApp } from '../fixtures/matrix.js';
import { soakSize } from '../fixtures/soak.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

const SESSIONS = soakSize(50_000, 1_000);
/** Opened before anything is measured: the first ones load and compile what all need. */
const FIRST = 100;
/** Longer than it takes to open all sessions: they idle together. */
const IDLE_MS = soakSize(120_000, 20_000);
const KEYS = 'soak:session:{test:';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

describeWithRedis('sessions that are opened and abandoned', () => {
  const redis = new RedisServer();
  beforeEach(() => redis.start());
  afterEach(() => redis.kill());

  it.each(anyPlatform())(
    'leave nothing behind in Redis and in the process on %s',
    async platform => {
      const admin = createClient({ url: redis.url });
      await admin.connect();
      const sessionKeys = async () => {
        const found: string[] = [];
        for await (const keys of admin.scanIterator({ MATCH: `${KEYS}*`, COUNT: 1000 })) found.push(...keys);
        return found;
      };
      const redisUsed = async () => Number(/used_memory:(\d+)/.exec(await admin.info('memory'))![1]);

      const expired = deferred();
      let left = SESSIONS;
      const listening = admin.duplicate();
      await listening.connect();
      await admin.configSet('notify-keyspace-events', 'Ex');
      await listening.subscribe('__keyevent@0__:expired', key => {
        if (key.startsWith(KEYS) && (left -= 1) === 0) expired.resolve();
      });

      const sessions = { max: SESSIONS, maxPerCaller: SESSIONS, idleTimeoutMs: IDLE_MS };
      const imports = [McpRedisModule.forRoot({ url: redis.url, prefix: 'soak:' })];
      const test = await startApp([Tools], { platform, mcp: { sessions }, module: { imports } });
      const idle = new IdleSessions(await test.url());
      await idle.open(FIRST);
      const before = { heap: heapUsed(), redis: await redisUsed() };
      const last = await idle.open(SESSIONS - FIRST);
      const each = (bytes: number) => Math.round(bytes / (SESSIONS - FIRST));
      const heap = each(heapUsed() - before.heap);
      expect(await sessionKeys()).toHaveLength(SESSIONS);
      console.log(
        `An idle session takes ${each((await redisUsed()) - before.redis)} bytes of Redis`,
        `(${await admin.memoryUsage(KEYS + last)} for its key) and ${heap} bytes of the process`,
      );

      await expired.promise;
      expect(await sessionKeys()).toEqual([]);
      expect(await idle.send({ 'mcp-session-id': last })).toMatchObject({ status: 404 });
      expect(heapUsed() - before.heap).toBeLessThan(SESSIONS * heap * 0.1 + 2 ** 20);
      console.log(`What is left takes ${(await redisUsed()) - before.redis} bytes of Redis`);
      idle.close();
      await test.close();
      listening.destroy();
      admin.destroy();
    },
    900_000,
  );
});
