import { Logger } from '@nestjs/common';
import { connectionTo } from '../../lib/redis/connection-to.js';
import { RedisMessageBus } from '../../lib/redis/redis-message-bus.js';
import { RedisMrtrStore } from '../../lib/redis/redis-mrtr-store.js';
import { resolveRedisOptions, type McpRedisOptions } from '../../lib/redis/redis-options.js';
import { eventually } from './eventually.js';
import { RedisCluster } from './redis-cluster.js';
import { SentinelGroup } from './redis-sentinel.js';
import { describeWithRedis } from './redis-server.js';

const PREFIX = 'a:';
const CHANNEL = 'news';

interface Group {
  readonly options: McpRedisOptions;
  start(): Promise<void>;
  /** Kills the primary that has this key. */
  killPrimaryOf(key: string): Promise<unknown>;
  kill(): Promise<void>;
}

describeWithRedis('when a primary is killed', () => {
  let group: Group;
  const said: string[] = [];
  const log = (line: unknown) => void said.push(String(line));
  beforeEach(() => {
    said.length = 0;
    Logger.overrideLogger({ log, warn: log, error: log });
  });
  afterEach(async () => {
    await group.kill();
    Logger.overrideLogger(false);
  });

  it.each<[string, () => Group]>([
    ['of a shard', () => new RedisCluster()],
    ['that a Sentinel watches', () => new SentinelGroup()],
  ])(
    '%s: commands are refused, then its replica serves them, and messages',
    async (_name, make) => {
      group = make();
      await group.start();
      const settings = resolveRedisOptions({ ...group.options, prefix: PREFIX });
      const links = [await connectionTo(settings), await connectionTo(settings)];
      await Promise.all(links.map(link => link.open()));
      const [one, other] = links.map(link => new RedisMessageBus(link, PREFIX));
      const store = new RedisMrtrStore(links[0], PREFIX);
      const heard: unknown[] = [];
      await one.subscribe(CHANNEL, message => heard.push(message));

      // The store has this key on the shard of the channel.
      await store.set(CHANNEL, 'first', 60);
      await group.killPrimaryOf(`{${CHANNEL}}`);
      await expect(store.get(CHANNEL)).rejects.toThrow();
      await eventually(() => store.set(CHANNEL, 'second', 60));
      expect(await store.get(CHANNEL)).toBe('second');
      await eventually(async () => {
        await other.publish(CHANNEL, { after: 'failover' });
        expect(heard).toContainEqual({ after: 'failover' });
      });
      await eventually(() =>
        expect(said).toContainEqual(expect.stringContaining('Redis is available again')),
      );
      expect(said).toContainEqual(expect.stringContaining('Redis is not available'));
      await Promise.all(links.map(link => link.close()));
    },
    120_000,
  );
});
