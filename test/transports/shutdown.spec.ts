import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Controller, Get, Injectable, Post, Req } from '@nestjs/common';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { McpServers } from '../../lib/module/mcp-servers.js';
import { deferred } from '../fixtures/deferred.js';
import { Inbox } from '../fixtures/inbox.js';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { outcomeOf } from '../gateway/support.js';

let started: Inbox<string>;
let aborted: Inbox<string>;
let release = deferred();

@Injectable()
class Tools {
  @Tool()
  async held(@Ctx() ctx: McpContext) {
    started.put(ctx.era);
    ctx.signal.addEventListener('abort', () => aborted.put(ctx.era));
    await release.promise;
    return 'finished';
  }

  @Tool()
  async stubborn(@Ctx() ctx: McpContext) {
    started.put(ctx.era);
    ctx.signal.addEventListener('abort', () => aborted.put(ctx.era));
    await new Promise(() => undefined);
  }

  @Tool()
  async ask(@Ctx() ctx: McpContext) {
    const { action } = await ctx.elicit('go', { message: 'Go?', schema: { type: 'object', properties: {} } });
    return action;
  }
}

@Controller()
class Health {
  @Get('health')
  health() {
    return 'fine';
  }

  @Get('slow')
  async slow() {
    started.put('slow');
    await release.promise;
    return 'slow, but fine';
  }

  @Post('upload')
  upload() {
    return 'uploaded';
  }

  /** Reads what is uploaded once it is told to, as a slow disk makes a route do. */
  @Post('store')
  async store(@Req() upload: IncomingMessage) {
    started.put('store');
    await release.promise;
    return `stored ${(await text(upload)).length}`;
  }
}

describe('app.close()', () => {
  let test: TestApp;
  const start = async (shutdownTimeoutMs?: number, legacy: 'sessions' | 'stateless' = 'sessions') => {
    test = await startApp([Tools], {
      mcp: { legacy, ...(shutdownTimeoutMs !== undefined && { shutdownTimeoutMs }) },
      module: { controllers: [Health] },
    });
  };

  beforeEach(() => {
    started = new Inbox();
    aborted = new Inbox();
    release = deferred();
  });
  afterEach(() => test.close());

  it('lets running calls finish, refuses new requests, and leaves other routes alone', async () => {
    await start();
    const clients = [await test.client(), await test.client({ era: 'legacy' })];
    const url = await test.url();
    const health = await test.url('/health');
    const calls = clients.map(client => outcomeOf(client.callTool({ name: 'held' })));
    await started.take();
    await started.take();

    const closing = test.app.close();
    const refused = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('connection')).toBe('close');
    expect(await refused.json()).toMatchObject({
      error: { code: -32000, message: 'The server is shutting down' },
    });
    expect(await (await fetch(health)).text()).toBe('fine');
    expect(aborted.size).toBe(0);
    release.resolve();
    expect((await Promise.all(calls)).map(result => textOf(result as object))).toEqual([
      'finished',
      'finished',
    ]);
    await closing;
  });

  it.each(['sessions', 'stateless'] as const)(
    'answers what does not finish in time with an error, and fires its signal (%s)',
    async legacy => {
      await start(1, legacy);
      const clients = [await test.client(), await test.client({ era: 'legacy' })];
      const calls = clients.map(client => outcomeOf(client.callTool({ name: 'stubborn' })));
      await started.take();
      await started.take();
      await test.app.close();
      const error = { code: -32000, message: expect.stringContaining('The server is shutting down') };
      expect(await Promise.all(calls)).toMatchObject([error, error]);
      expect([await aborted.take(), await aborted.take()].sort()).toEqual(['legacy', 'modern']);
    },
  );

  it('ends idle, silent and half-written connections, and no request of another route', async () => {
    await start();
    const url = new URL(await test.url());
    const post = 'host: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{';
    const written = [
      '',
      'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
      'GET /health HTTP/1.1\r\nhost: 127',
      `POST /mcp HTTP/1.1\r\n${post}`,
      `POST /upload HTTP/1.1\r\n${post}`,
    ];
    const sockets = await Promise.all(
      written.map(async text => {
        const socket = connect(Number(url.port), '127.0.0.1').on('error', () => undefined);
        await once(socket, 'connect');
        if (text !== '') socket.write(text);
        return { ended: once(socket.resume(), 'close') };
      }),
    );
    const slow = fetch(new URL('/slow', url)).then(response => response.text());
    await started.take();
    const closing = test.app.close();
    await Promise.all(sockets.map(({ ended }) => ended));
    release.resolve();
    expect(await slow).toBe('slow, but fine');
    await closing;
  });

  it('ends no request whose body its route has yet to read', async () => {
    await start();
    const url = new URL(await test.url());
    const headers = { 'content-type': 'application/octet-stream' };
    const upload = request(new URL('/store', url), { method: 'POST', agent: false, headers });
    const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
    upload.end('x'.repeat(3_000_000));
    await started.take();
    const stalled = connect(Number(url.port), '127.0.0.1').on('error', () => undefined);
    const head = 'host: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n';
    stalled.resume().write(`POST /upload HTTP/1.1\r\n${head}{`);
    await once(stalled, 'connect');
    const closing = test.app.close();
    // It ends once the server has looked for connections that stall.
    await once(stalled, 'close');
    release.resolve();
    expect(await text((await answered)[0])).toBe('stored 3000000');
    await closing;
  });

  it('answers a call that waits for its client at once', async () => {
    await start();
    const asked = deferred();
    const client = await test.client({
      era: 'legacy',
      onElicit: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    });
    const call = outcomeOf(client.callTool({ name: 'ask' }));
    const running = outcomeOf(client.callTool({ name: 'held' }));
    await asked.promise;
    await started.take();
    const closing = test.app.close();
    expect(await call).toMatchObject({
      code: -32000,
      message: expect.stringContaining('The server is shutting down'),
    });
    release.resolve();
    expect(textOf((await running) as object)).toBe('finished');
    await closing;
  });

  it('serves for "drainMs" after its readiness has ended, and once for all servers', async () => {
    test = await startApp([Tools], {
      mcp: { drainMs: 1000 },
      module: {
        imports: [
          McpModule.forRoot({ name: 'other', version: '1.0.0', http: { path: '/other' }, drainMs: 1 }),
        ],
        controllers: [Health],
      },
    });
    const url = await test.url();
    const isOpen = () =>
      test.app
        .get(McpServers)
        .all()
        .map(server => server.isOpen);
    expect(isOpen()).toEqual([true, true]);
    const closing = test.app.close();
    const client = await test.client();
    const call = outcomeOf(client.callTool({ name: 'held' }));
    await started.take();
    expect(isOpen()).toEqual([false, false]);
    release.resolve();
    expect(textOf((await call) as object)).toBe('finished');
    await closing;
    await expect(fetch(url)).rejects.toThrow();
  });
});
