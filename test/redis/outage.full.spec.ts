import type { Client } from '@modelcontextprotocol/client';
import { createClient } from 'redis';
import { send } from '../fixtures/raw-client.js';
import { Inbox } from '../fixtures/inbox.js';
import { connect } from '../gateway/support.js';
import { NodeProcess } from '../elicitation/node-process.js';
import { LogLines } from './log-lines.js';
import { describeWithRedis, RedisServer } from './redis-server.js';
import { PRICES, YES } from './shop.js';

const UNAVAILABLE = {
  code: -32000,
  message: 'The server cannot reach a store that this call needs. Try again later.',
  data: { statusCode: 503 },
};

/** A node in a process of its own: a rejection that nobody handles would end it. */
class Node {
  readonly log = new LogLines();
  readonly process: NodeProcess;

  constructor(url: string) {
    this.process = new NodeProcess({
      app: 'redis-app.ts',
      env: { REDIS_URL: url },
      onLine: line => this.log.put(line),
    });
  }

  get url(): string {
    return this.process.url!;
  }

  call(name: string, round: object = {}) {
    return send(this.url, { name, user: 'jo', ...round });
  }
}

describeWithRedis('two nodes', () => {
  const redis = new RedisServer();
  let nodes: readonly [Node, Node];
  let client: Client;
  const told = new Inbox<string>();

  beforeEach(async () => {
    await redis.start();
    nodes = [new Node(redis.url), new Node(redis.url)];
    await Promise.all(nodes.map(node => node.process.start()));
    client = await connect(nodes[1].url, 'modern');
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.put(params.uri));
    await client.listen({ resourceSubscriptions: [PRICES] });
  });
  afterEach(async () => {
    await client.close();
    await Promise.all(nodes.map(node => node.process.kill()));
    redis.thaw();
    await redis.kill();
  });

  const expectRefusals = async () => {
    const [one, other] = nodes;
    const started = await one.call('buy');
    for (const node of nodes) {
      expect((await node.call('hello')).result?.content?.[0].text).toBe('hello');
      // Each node counts alone.
      expect((await node.call('limited')).result?.content?.[0].text).toBe('within the limit');
      expect((await node.call('limited')).result?.content?.[0].text).toBe('within the limit');
      expect((await node.call('limited')).error).toMatchObject({ code: -32602 });
    }
    const answer = { requestState: started.result!.requestState, inputResponses: YES };
    expect((await other.call('buy', answer)).error).toEqual(UNAVAILABLE);
    return () => other.call('buy', answer);
  };

  const expectSharing = async () => {
    const [one, other] = nodes;
    await one.call('change');
    expect(await told.take()).toBe(PRICES);
    for (const node of [one, other]) {
      expect((await node.call('limited')).result?.content?.[0].text).toBe('within the limit');
    }
    expect((await other.call('limited')).error).toMatchObject({ code: -32602 });
  };

  it('refuse what needs Redis while it is gone, do all else, and recover by themselves', async () => {
    await redis.kill();
    await Promise.all(nodes.map(node => node.log.until('Redis is not available')));
    const buyAgain = await expectRefusals();
    await nodes[0].call('change');
    await nodes[1].call('change');
    expect(await told.take()).toBe(PRICES);
    expect(told.size).toBe(0);
    await redis.start();
    await Promise.all(nodes.map(node => node.log.until('Redis is available again')));
    await expectSharing();
    expect((await buyAgain()).result?.content?.[0].text).toBe('bought L');
    for (const { log } of nodes) {
      expect(await log.until('Redis is not available')).toHaveLength(1);
    }
    expect(nodes[1].log.lines.filter(line => line.includes('The store of "mrtr"'))).toEqual([
      'warn The store of "mrtr" failed; calls that need it are refused: the connection to Redis is not open',
      'log The store of "mrtr" works again',
    ]);
  });

  it('do not wait for a Redis that does not answer', async () => {
    redis.freeze();
    const buyAgain = await expectRefusals();
    await nodes[0].call('change');
    redis.thaw();
    await Promise.all(nodes.map(node => node.log.until('Redis is available again')));
    expect((await buyAgain()).result?.content?.[0].text).toBe('bought L');
  });

  it('notice by themselves that Redis does not answer', async () => {
    redis.freeze();
    await Promise.all(nodes.map(node => node.log.until('Redis is not available')));
    redis.thaw();
    await Promise.all(nodes.map(node => node.log.until('Redis is available again')));
    await expectSharing();
  });

  it('leave a replica alone, and come back when it is the primary', async () => {
    const admin = createClient({ url: redis.url });
    await admin.connect();
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    for (const node of nodes) {
      expect((await node.call('limited')).result?.content?.[0].text).toBe('within the limit');
      await node.log.until('Redis is not available (READONLY');
      expect((await node.call('limited')).result?.content?.[0].text).toBe('within the limit');
    }
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    admin.destroy();
    await Promise.all(nodes.map(node => node.log.until('Redis is available again')));
    await expectSharing();
    for (const { log } of nodes) expect(await log.until('Redis is not available')).toHaveLength(1);
  });

  it('do not log a password that is wrong', async () => {
    const admin = createClient({ url: redis.url });
    await admin.connect();
    await admin.sendCommand(['CONFIG', 'SET', 'requirepass', 'the right one']);
    admin.destroy();
    const stranger = new Node(redis.url.replace('://', '://:hunter-2@'));
    await stranger.process.start();
    await stranger.log.until('Redis is not available (WRONGPASS');
    expect(stranger.log.lines.join()).not.toContain('hunter-2');
    await stranger.process.kill();
  });

  it('start without Redis, and use it as soon as it is there', async () => {
    await redis.kill();
    const late = new Node(redis.url);
    await late.process.start();
    await late.log.until('Redis is not available');
    expect((await late.call('hello')).result?.content?.[0].text).toBe('hello');
    await redis.start();
    await late.log.until('Redis is available again');
    await nodes[1].log.until('Redis is available again');
    await late.call('change');
    expect(await told.take()).toBe(PRICES);
    await late.process.kill();
  });
});
