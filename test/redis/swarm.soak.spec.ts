import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { roundRobin, type RoundRobin } from '../../sample/support/round-robin.js';
import { soakSize } from '../fixtures/soak.js';
import { ERAS } from '../gateway/support.js';
import { NodeProcess } from '../elicitation/node-process.js';
import type { McpRedisOptions } from 'nestjs-mcp/redis';
import { RedisCluster } from './redis-cluster.js';
import { SentinelGroup } from './redis-sentinel.js';
import { describeWithRedis, RedisServer } from './redis-server.js';
import { SwarmClient, type Span } from './swarm-client.js';

/** Of each era. */
const CLIENTS = soakSize(500, 20);
const PACE_MS = soakSize(20_000, 300);
/** A quarter of the run, in milliseconds. Within ten seconds, the others notice a killed node, before the next one stops. */
const QUARTER_MS = soakSize(30_000, 10_000);
/** How long what was sent may take to arrive, in milliseconds. */
const ARRIVAL_MS = 20_000;

/** What the nodes share, and how it fails. */
interface Place {
  readonly options: McpRedisOptions;
  start(): Promise<void>;
  /** Fails, and waits until it works again. */
  fail(): Promise<void>;
  kill(): Promise<void>;
}

/** Restarts with what it has kept. */
class OneRedis extends RedisServer {
  constructor(private readonly kept = mkdtempSync(join(tmpdir(), 'swarm-'))) {
    super(kept);
  }

  async fail(): Promise<void> {
    await this.stop();
    await this.start();
  }

  override async kill(): Promise<void> {
    await super.kill();
    rmSync(this.kept, { recursive: true });
  }
}

/** Loses the primary of one shard. */
class ThreeShards extends RedisCluster {
  async fail(): Promise<void> {
    await this.killPrimaryOf('a');
    await this.whole();
  }
}

class Watched extends SentinelGroup {
  async fail(): Promise<void> {
    await this.primary.kill();
    await this.failedOver();
  }
}

describeWithRedis.each<[string, () => Place]>([
  ['one Redis', () => new OneRedis()],
  ['a cluster', () => new ThreeShards()],
  ['a primary with a Sentinel', () => new Watched()],
])('three nodes behind a round-robin proxy, with %s', (_name, make) => {
  const redis = make();
  const nodes: NodeProcess[] = [];
  const clients: SwarmClient[] = [];
  let proxy: RoundRobin | undefined;

  const startNode = async () => {
    const node = new NodeProcess({ app: 'nodes-app.ts', env: { REDIS: JSON.stringify(redis.options) } });
    await node.start();
    return node;
  };

  afterAll(async () => {
    await Promise.allSettled(clients.map(client => client.close()));
    proxy?.close();
    await Promise.all(nodes.map(node => node.kill()));
    await redis.kill();
  });

  it(
    'serve clients of either era while nodes and Redis fail',
    async () => {
      await redis.start();
      for (let count = 0; count < 3; count++) nodes.push(await startNode());
      const urls = nodes.map(({ url }) => url!);
      proxy = await roundRobin(urls, () => undefined);
      const replace = async (index: number) => {
        nodes[index] = await startNode();
        urls[index] = nodes[index].url!;
      };

      const unsure: Span[] = [];
      for (const era of ERAS) {
        for (let index = 0; index < CLIENTS; index++) {
          clients.push(new SwarmClient(`${era}-${index}`, era, unsure));
        }
      }
      for (const client of clients) await client.connect(proxy.url);
      const over = new AbortController();
      setMaxListeners(0, over.signal);
      const working = clients.map(client => client.work(over.signal, PACE_MS));

      await pause(QUARTER_MS);
      // What the node has just been asked to tell the others may not have left it.
      unsure.push([performance.now() - 1000, performance.now() + 1000]);
      const killed = performance.now();
      await nodes[0].kill();
      await replace(0);
      await pause(QUARTER_MS);
      const stopped = performance.now();
      await nodes[1].stop();
      await replace(1);
      await pause(QUARTER_MS);
      const down = performance.now();
      await redis.fail();
      const up = performance.now();
      await pause(QUARTER_MS);
      over.abort();
      await Promise.all(working);

      const legacy = clients.filter(({ era }) => era === 'legacy');
      const deadline = performance.now() + ARRIVAL_MS;
      while (legacy.some(({ missed }) => missed.lost > 0) && performance.now() < deadline) await pause(100);
      const rows = ERAS.map(era => {
        const own = clients.filter(client => client.era === era);
        const sum = (of: (client: SwarmClient) => number) => own.reduce((all, client) => all + of(client), 0);
        return {
          era,
          clients: own.length,
          calls: sum(({ counts }) => counts.calls),
          errors: sum(({ counts }) => counts.errors),
          'after 15 s': sum(({ counts }) => counts.late),
          'these calls': own.flatMap(({ lateCalls }) => lateCalls),
          'killed, stopped, down, up, at s': [killed, stopped, down, up].map(ms => Math.round(ms / 100) / 10),
          'answers not delivered': sum(({ counts }) => counts.undelivered),
          'never succeeded': sum(({ counts }) => counts.stuck),
          'of another client': sum(({ counts }) => counts.foreign),
          'longest, s': Math.round(Math.max(...own.map(({ longestMs }) => longestMs)) / 100) / 10,
          'updates sent': sum(({ missed }) => missed.sent),
          lost: sum(({ missed }) => missed.lost),
          doubled: sum(({ missed }) => missed.doubled),
          'lost updates': era === 'legacy' ? own.flatMap(({ lostUpdates }) => lostUpdates) : [],
        };
      });
      process.stdout.write(`${rows.map(row => JSON.stringify(row)).join('\n')}\n`);

      for (const row of rows) {
        expect(row).toMatchObject({
          'after 15 s': 0,
          'never succeeded': 0,
          'of another client': 0,
          doubled: 0,
        });
      }
      // A 2026-07-28 client that listens has no stored notifications.
      expect(rows.find(({ era }) => era === 'legacy')).toMatchObject({ lost: 0 });
    },
    10 * QUARTER_MS + 120_000,
  );
});
