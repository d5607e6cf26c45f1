import { freePort } from '../../sample/support/free-port.js';
import { NodeProcess } from '../elicitation/node-process.js';
import { openSession, post } from '../fixtures/raw-session.js';
import { isInstalled, startHaproxy, startNginx, type Proxy } from './proxies.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

const NODES = 9;
const CLIENTS = 4;
const DRAIN_MS = 1200;

const CALL = { id: 1, method: 'tools/call', params: { name: 'hello', arguments: {} } };
const MODERN = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'hello',
};
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN_CALL = { ...CALL, params: { ...CALL.params, _meta: META } };

describeWithRedis.each<[string, (nodes: readonly number[]) => Promise<Proxy>]>([
  ['haproxy', startHaproxy],
  ['nginx', startNginx],
])('a deployment node by node behind %s', (name, startProxy) => {
  const redis = new RedisServer();
  const nodes: NodeProcess[] = [];
  let proxy: Proxy | undefined;
  beforeAll(() => redis.start());
  afterAll(async () => {
    await proxy?.stop();
    await Promise.all(nodes.map(node => node.kill()));
    await redis.kill();
  });

  const startNode = async (port: number) => {
    const env = { PORT: String(port), REDIS_URL: redis.url, DRAIN_MS: String(DRAIN_MS) };
    const node = new NodeProcess({ app: 'rolling-app.ts', env });
    await node.start();
    return node;
  };

  // eslint-disable-next-line no-restricted-syntax -- the program may be missing
  (isInstalled(name) ? it : it.skip)(
    'fails no call, and a client of 2025 tries once more at most',
    async () => {
      const ports: number[] = [];
      for (let index = 0; index < NODES; index++) ports.push(await freePort());
      for (const port of ports) nodes.push(await startNode(port));
      proxy = await startProxy(ports);
      const { url } = proxy;
      const failures: string[] = [];
      let calls = 0;
      let retries = 0;
      let isOver = false;
      const statusOf = async (headers: Record<string, string>, message: object) => {
        try {
          const answer = await post(url, headers, message);
          const body = await answer.text();
          calls += 1;
          return answer.status === 200 && body.includes('hello') ? undefined : `${answer.status} ${body}`;
        } catch (error) {
          return String((error as Error).cause);
        }
      };
      const modern = async () => {
        while (!isOver) {
          const failure = await statusOf(MODERN, MODERN_CALL);
          if (failure !== undefined) failures.push(failure);
        }
      };
      const legacy = async () => {
        const session = await openSession(url);
        while (!isOver) {
          let failure = await statusOf(session, CALL);
          if (failure !== undefined) {
            retries += 1;
            failure = await statusOf(session, CALL);
          }
          if (failure !== undefined) failures.push(`2025: ${failure}`);
        }
      };
      const clients = Array.from({ length: CLIENTS }, () => [modern(), legacy()]).flat();
      for (const [index, port] of ports.entries()) {
        await nodes[index].stop();
        nodes[index] = await startNode(port);
      }
      isOver = true;
      await Promise.all(clients);
      process.stdout.write(`${name}: ${calls} calls, ${retries} retries of 2025 clients\n`);
      expect(failures).toEqual([]);
      expect(calls).toBeGreaterThan(NODES);
    },
    180_000,
  );
});
