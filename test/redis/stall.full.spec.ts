import { connectionTo } from '../../lib/redis/connection-to.js';
import type { RedisClientType } from 'redis';
import type { RedisLink } from '../../lib/redis/redis-link.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { Logger } from '@nestjs/common';
import { describeWithRedis, RedisServer } from './redis-server.js';

const TIMEOUT_MS = 100;

/** A handler that blocks the node. */
function block(ms: number): void {
  const end = Date.now() + ms;
  while (Date.now() < end);
}

describeWithRedis('a node that is blocked for longer than a command may take', () => {
  const redis = new RedisServer();
  const log = new LogSpy();
  let connection: RedisLink;

  beforeAll(async () => {
    await redis.start();
    Logger.overrideLogger(log);
    connection = await connectionTo({
      url: redis.url,
      prefix: 'test:',
      connectTimeoutMs: 1000,
      commandTimeoutMs: TIMEOUT_MS,
    });
    await connection.open();
  });

  afterAll(async () => {
    await connection.close();
    await redis.kill();
    Logger.overrideLogger(false);
  });

  it.each([
    ['before the command is written', () => Promise.resolve()],
    ['while the answer is on its way', () => new Promise<void>(resolve => setImmediate(resolve))],
  ])('does not take it for an outage of Redis: %s', async (_, moment) => {
    for (let round = 0; round < 5; round += 1) {
      const answer = connection.run(client => client.get('x'));
      await moment();
      block(4 * TIMEOUT_MS);
      expect(await answer).toBeNull();
    }
    expect(log.warnings).toEqual([]);
  });

  it('still refuses a command that Redis does not answer', async () => {
    const late = connection.run(client => (client as RedisClientType).blPop('none', 5));
    await expect(late).rejects.toThrow('Redis did not answer within 100 ms');
  });
});
