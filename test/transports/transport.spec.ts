import { Injectable, MiddlewareConsumer, Module, VersioningType, type NestModule } from '@nestjs/common';
import { Args, Ctx, McpContext, Resource, Tool } from 'nestjs-mcp';
import { cells, platforms, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Work {
  @Tool()
  async progress(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2, 'half');
    await ctx.reportProgress({ progress: 2, total: 2 });
    return 'done';
  }

  @Tool()
  async log(@Ctx() ctx: McpContext) {
    await ctx.log.info({ step: 1 }, 'work');
    await ctx.log('debug', 'detail');
    return 'logged';
  }

  @Tool()
  touch(@Args('uri') uri: string, @Ctx() ctx: McpContext) {
    ctx.sendResourceUpdated(uri);
  }

  @Tool()
  who(@Ctx() { clientInfo, era, protocolVersion, sessionId, headers }: McpContext) {
    return { clientInfo, era, protocolVersion, session: sessionId !== undefined, agent: headers['x-agent'] };
  }

  @Resource({ uri: 'state://a', cache: { ttlMs: 5000, cacheScope: 'public' } })
  state() {
    return 'on';
  }

  @Resource({ uri: 'state://b' })
  other() {
    return 'off';
  }
}

describe.each(cells())('a call over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  const hasSession = era === 'legacy' && legacy === 'sessions';

  beforeAll(async () => {
    test = await startApp([Work], { platform, mcp: { legacy, cache: { 'tools/list': { ttlMs: 1000 } } } });
  });
  afterAll(() => test.close());

  it('sends nothing to a client that asked for no progress', async () => {
    const client = await test.client({ era });
    expect(textOf(await client.callTool({ name: 'progress' }))).toBe('done');
  });

  it('sends log messages that the level admits', async () => {
    const client = await test.client({ era });
    const seen: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params));
    if (hasSession) await client.setLoggingLevel('info');
    const _meta = era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'info' } : {};
    await client.callTool({ name: 'log', _meta });
    expect(seen[0]).toEqual({ level: 'info', data: { step: 1 }, logger: 'work' });
    // Without a session there is nobody to remember a level, so everything is sent.
    expect(seen).toHaveLength(era === 'legacy' && !hasSession ? 2 : 1);
  });

  it('knows who calls', async () => {
    const client = await test.client({ era, headers: { 'x-agent': 'a' } });
    const known = JSON.parse(textOf(await client.callTool({ name: 'who' }))) as object;
    expect(known).toMatchObject({ era, session: hasSession, agent: 'a' });
    if (hasSession || era === 'modern')
      expect(known).toMatchObject({ clientInfo: { name: 'nestjs-mcp-testing' } });
    // Without a session nothing is negotiated, but the client's header says it.
    const protocolVersion = era === 'modern' ? '2026-07-28' : '2025-11-25';
    expect(known).toMatchObject({ protocolVersion });
  });

  it('gives cache hints to the revision that has them', async () => {
    const client = await test.client({ era });
    const list = await client.listTools();
    const read = await client.readResource({ uri: 'state://a' });
    if (era === 'modern') {
      expect(list).toMatchObject({ ttlMs: 1000, cacheScope: 'private' });
      expect(read).toMatchObject({ ttlMs: 5000, cacheScope: 'public' });
    } else {
      expect(list).not.toHaveProperty('ttlMs');
      expect(read).not.toHaveProperty('ttlMs');
    }
  });

  it('tells subscribers, and only them, that a resource changed', async () => {
    const client = await test.client({ era });
    const toucher = await test.client({ era });
    const updated = new Promise<string>(resolve => {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
    });
    if (era === 'modern') await client.listen({ resourceSubscriptions: ['state://b'] });
    else if (hasSession) await client.subscribeResource({ uri: 'state://b' });
    else {
      await expect(client.subscribeResource({ uri: 'state://b' })).rejects.toThrow();
      return;
    }
    await toucher.callTool({ name: 'touch', arguments: { uri: 'state://a' } });
    await toucher.callTool({ name: 'touch', arguments: { uri: 'state://b' } });
    expect(await updated).toBe('state://b');
  });
});

@Injectable()
class Letters {
  @Tool()
  a() {}

  @Tool()
  b() {}

  @Tool()
  c() {}

  @Tool()
  d() {}

  @Tool()
  e() {}
}

describe.each(platforms())('pagination on %s', platform => {
  it('hands out every entry once, page by page', async () => {
    const test = await startApp([Letters], { platform, mcp: { pageSize: 2 } });
    const client = await test.client();
    const names: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await client.request({
        method: 'tools/list',
        params: cursor === undefined ? {} : { cursor },
      });
      names.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(pages).toBe(3);
    await test.close();
  });
});

@Module({})
class Tagging implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer
      .apply(
        (_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
          response.setHeader('x-tagged', 'yes');
          next();
        },
      )
      .forRoutes('*path');
  }
}

describe.each(platforms())('the route on %s', platform => {
  it('takes the global prefix, the version and middleware', async () => {
    const test = await startApp([Work], {
      platform,
      mcp: { http: { path: 'agents/mcp', version: '2' } },
      module: { imports: [Tagging] },
      configure: app => {
        app.setGlobalPrefix('api');
        app.enableVersioning({ type: VersioningType.URI });
        app.enableCors({ origin: 'http://localhost:5173', exposedHeaders: ['mcp-session-id'] });
      },
    });
    const client = await test.client({ era: 'legacy' });
    expect((await client.listTools()).tools).toHaveLength(4);
    const url = await test.url('/api/v2/agents/mcp');
    const response = await fetch(url, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json', origin: 'http://localhost:5173' },
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('x-tagged')).toBe('yes');
    expect(response.headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
    expect((await fetch(await test.url('/mcp'), { method: 'POST' })).status).toBe(404);
    await test.close();
  });

  it('leaves the bodies of other routes to their own parser', async () => {
    const test = await startApp([Work], { platform, mcp: { http: { maxBodyBytes: 10 } } });
    const response = await fetch(await test.url('/other'), {
      method: 'POST',
      body: JSON.stringify({ long: 'more than ten bytes' }),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(404);
    await test.close();
  });

  it('serves the hosts and origins it is told to, and no others', async () => {
    const test = await startApp([Work], {
      platform,
      mcp: { http: { allowedHosts: ['127.0.0.1'], allowedOrigins: ['app.example'] } },
    });
    const url = await test.url();
    const statusOf = async (origin: string) =>
      (
        await fetch(url, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json', origin },
        })
      ).status;
    expect(await statusOf('https://app.example')).toBe(400);
    expect(await statusOf('http://127.0.0.1')).toBe(403);
    expect((await fetch(url.replace('127.0.0.1', 'localhost'), { method: 'POST' })).status).toBe(403);
    await test.close();
  });

  it('refuses 2025-era clients where told to, naming what it serves', async () => {
    const test = await startApp([Work], { platform, mcp: { legacy: 'reject' } });
    await expect(test.client({ era: 'legacy' })).rejects.toThrow(/2026-07-28|unsupported/i);
    expect((await (await test.client()).listTools()).tools).toHaveLength(4);
    await test.close();
  });
});
