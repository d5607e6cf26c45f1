import { McpRedisModule } from 'nestjs-mcp/redis';
import {
  HEADER_GUARD,
  HeldTools,
  INITIALIZE,
  sendAs,
  type BegunAnswer,
  type LimitedRequest,
} from '../fixtures/limits.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { eventually } from './eventually.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

const NODES = 3;
const CAP = 20;

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

const modern = (method: string, params: object, name?: string): LimitedRequest => ({
  headers: {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name !== undefined && { 'mcp-name': name }),
  },
  body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...META, progressToken: 1 } } },
});

const LISTEN = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
const HOLD = modern('tools/call', { name: 'hold', arguments: {} }, 'hold');

describeWithRedis('the limits of a caller on three nodes', () => {
  const redis = new RedisServer();
  const nodes: TestApp[] = [];
  const answers: BegunAnswer[] = [];

  beforeAll(async () => {
    await redis.start();
    for (let index = 0; index < NODES; index++) {
      const node = await startApp([HeldTools], {
        platform: anyPlatform()[0],
        mcp: {
          sessions: { maxPerCaller: CAP },
          calls: { maxPerCaller: CAP },
          http: { maxListenersPerCaller: CAP },
        },
        module: { imports: [McpRedisModule.forRoot({ url: redis.url })], providers: [HEADER_GUARD] },
        forceCloseConnections: true,
      });
      await node.url();
      nodes.push(node);
    }
  });
  afterEach(() => Promise.all(answers.splice(0).map(answer => answer.hangUp())));
  afterAll(async () => {
    await Promise.all(nodes.map(node => node.close()));
    await redis.kill();
  });

  const statusOf = async (node: number, user: string, sent: LimitedRequest) => {
    const answer = await sendAs(nodes[node % NODES], user, sent);
    if (answer.status === 200 && sent !== INITIALIZE) answers.push(answer);
    return answer.status;
  };
  const given = async (user: string, sent: LimitedRequest) => {
    let count = 0;
    for (let index = 0; index < NODES * CAP; index++) {
      const status = await statusOf(index, user, sent);
      if (status === 200) count += 1;
      else expect(status).toBe(429);
    }
    return count;
  };

  it.each([
    ['sessions', INITIALIZE],
    ['listeners', LISTEN],
  ])('are those of one node: %s', async (user, sent) => {
    expect(await given(user, sent)).toBe(CAP);
    expect(await statusOf(1, `another caller of ${user}`, sent)).toBe(200);
  });

  it('are for calls those of one node, but for what the nodes have not told each other yet', async () => {
    const first = await statusOf(0, 'calls', HOLD);
    expect(first).toBe(200);
    for (let index = 1; index < CAP; index++) await statusOf(index % 2, 'calls', HOLD);
    // The third node learns of the others with its first calls.
    await eventually(async () => expect(await statusOf(2, 'calls', HOLD)).toBe(429));
    const running = nodes.reduce((sum, { app }) => sum + app.get(HeldTools).running, 0);
    expect(running).toBeLessThan(2 * CAP);
  });

  it('give a place again when another node has released it', async () => {
    expect(await given('again', LISTEN)).toBe(CAP);
    const [released] = answers.splice(0, 1);
    await released.hangUp();
    await eventually(async () => expect(await statusOf(2, 'again', LISTEN)).toBe(200));
    expect(await statusOf(0, 'again', LISTEN)).toBe(429);
  });

  it('are those of each node while Redis is away', async () => {
    await redis.kill();
    expect(await given('alone', LISTEN)).toBe(NODES * CAP);
  });
});
