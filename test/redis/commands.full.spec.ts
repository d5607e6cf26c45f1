import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, McpServerRegistry, Tool } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { createClient } from 'redis';
import { EventReader } from '../fixtures/event-reader.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { openSession, post } from '../fixtures/raw-session.js';
import { describeWithRedis, RedisServer } from './redis-server.js';

const SESSIONS = 200;
const EVENTS = 100;

@Injectable()
class Tools {
  @Tool()
  hello() {
    return 'hello';
  }

  @Tool()
  async work(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    return 'done';
  }

  @Tool()
  burst(@Ctx() ctx: McpContext) {
    for (let index = 1; index <= EVENTS; index++) void ctx.reportProgress(index);
    return 'done';
  }
}

const call = (id: number, name: string) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken: id } },
});

describeWithRedis('the commands that two nodes send to Redis', () => {
  const redis = new RedisServer();
  const nodes: TestApp[] = [];
  const urls: string[] = [];
  let admin: ReturnType<typeof createClient>;

  beforeAll(async () => {
    await redis.start();
    admin = createClient({ url: redis.url });
    await admin.connect();
    for (let index = 0; index < 2; index++) {
      const module = { imports: [McpRedisModule.forRoot({ url: redis.url })] };
      const many = { max: 1000, maxPerCaller: 1000 };
      const mcp = { sessions: many, http: { maxListeners: 1000, maxListenersPerCaller: 1000 } };
      const node = await startApp([Tools], {
        platform: anyPlatform()[0],
        mcp,
        module,
        forceCloseConnections: true,
      });
      nodes.push(node);
      urls.push(await node.url());
    }
  });
  afterAll(async () => {
    await Promise.all(nodes.map(node => node.close()));
    admin.destroy();
    await redis.kill();
  });

  /** The scripts, and the reads of whole records. The beats of the nodes need neither. */
  const counted = async (work: () => Promise<unknown>) => {
    const count = async () => {
      const stats = await admin.info('commandstats');
      const of = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
      return { scripts: of('evalsha'), reads: of('hgetall') };
    };
    const before = await count();
    await work();
    const after = await count();
    return { scripts: after.scripts - before.scripts, reads: after.reads - before.reads };
  };
  const calls = async (node: number, session: Record<string, string>, name: string, times: number) => {
    for (let id = 1; id <= times; id++) await (await post(urls[node], session, call(id, name))).text();
    // What is written after the answer.
    await admin.ping();
  };

  it('are none for a call at the home of its session, and one read elsewhere', async () => {
    const session = await openSession(urls[0]);
    expect(await counted(() => calls(0, session, 'hello', 10))).toEqual({ scripts: 0, reads: 0 });
    expect(await counted(() => calls(1, session, 'hello', 10))).toEqual({ scripts: 0, reads: 10 });
  });

  it('are two scripts for a streamed call with one event, and few more for many', async () => {
    const session = await openSession(urls[0]);
    await calls(0, session, 'work', 1);
    const { scripts } = await counted(() => calls(0, session, 'work', 10));
    expect(scripts).toBeLessThanOrEqual(20);
    const burst = await counted(() => calls(0, session, 'burst', 1));
    expect(burst.scripts).toBeLessThanOrEqual(EVENTS * 0.2);
  });

  it('are one script for each session that listens when a list changes, none for others', async () => {
    const [registry] = nodes.map(({ app }) => app.get(McpServerRegistry));
    const change = (name: string) =>
      registry.add('tool', { name, inputSchema: { type: 'object' } }, () => name);
    const sessions: [number, Record<string, string>][] = [];
    for (let index = 0; index < SESSIONS; index++)
      sessions.push([index % 2, await openSession(urls[index % 2])]);
    expect(await counted(() => change('a'))).toEqual({ scripts: 0, reads: 0 });

    const streams: EventReader[] = [];
    for (const [node, session] of sessions) {
      const stream = await EventReader.open(urls[node], session);
      await stream.message();
      streams.push(stream);
    }
    const told = async () => {
      await change('b');
      const messages = await Promise.all(streams.map(stream => stream.message()));
      expect(messages.every(one => one?.message['method'] === 'notifications/tools/list_changed')).toBe(true);
    };
    expect(await counted(told)).toEqual({ scripts: SESSIONS, reads: 0 });
    for (const stream of streams) stream.cut();
  }, 60_000);
});
