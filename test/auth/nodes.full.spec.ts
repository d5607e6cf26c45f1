import { randomUUID } from 'node:crypto';
import { McpRedisModule } from 'nestjs-mcp/redis';
import type { TestApp } from '../fixtures/matrix.js';
import { describeWithRedis, RedisServer } from '../redis/redis-server.js';
import { describePrincipals, startNode } from './principals.js';

describeWithRedis('two principals on two nodes that share one Redis', () => {
  const redis = new RedisServer();
  beforeAll(() => redis.start());
  afterAll(() => redis.kill());

  describe.each([
    ['travel', {}],
    ['are kept in Redis', { maxStateBytes: 100 }],
    ['can be used once', { singleUse: true }],
  ])('whose states %s', (_, mrtr) => {
    let nodes: TestApp[];
    beforeEach(async () => {
      const imports = [McpRedisModule.forRoot({ url: redis.url, prefix: `${randomUUID()}:` })];
      nodes = [await startNode(imports, mrtr), await startNode(imports, mrtr)];
    });
    afterEach(() => Promise.all(nodes.map(node => node.close())));

    describePrincipals(() => nodes);
  });
});
