import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Ctx, Tool, type McpContext } from 'nestjs-mcp';
import { ConnectionError, type McpClient, type McpClientOptions } from 'nestjs-mcp/client';
import { freePort } from '../../sample/support/free-port.js';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { Shop, startClients, textOf, type ClientApp } from './fixtures.js';

const ERAS = ['modern', 'legacy'] as const;
const echo = async (client: McpClient, text = 'a') =>
  textOf(await client.callTool({ name: 'echo', arguments: { text } }));

async function serveOn(port: number): Promise<TestApp> {
  const server = await startApp([Shop], { forceCloseConnections: true });
  await server.app.listen(port, '127.0.0.1');
  return server;
}

/** Tries until it works, for what is only allowed again after a delay. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      await nextTurn();
    }
  }
}

describe.each([...ERAS, 'auto'] as const)('a connection over HTTP, %s', era => {
  let clients: ClientApp;
  afterEach(() => clients.close());

  it('is opened by the first use, so the server may start later', async () => {
    const port = await freePort();
    const opened: string[] = [];
    clients = await startClients([
      { name: 'shop', url: `http://127.0.0.1:${port}/mcp`, era, reconnectDelayMs: 1, maxReconnectDelayMs: 5 },
    ]);
    const client = clients.client();
    client.opened$.subscribe(() => opened.push('opened'));
    await expect(echo(client)).rejects.toThrow(ConnectionError);
    const server = await serveOn(port);
    expect(await eventually(() => echo(client))).toBe('echo a');
    expect(await Promise.all([echo(client, 'b'), echo(client, 'c')])).toEqual(['echo b', 'echo c']);
    expect(opened).toEqual(['opened']);
    await server.close();
  });

  it('outlives a restart of the server', async () => {
    const port = await freePort();
    let server = await serveOn(port);
    clients = await startClients([
      { name: 'shop', url: `http://127.0.0.1:${port}/mcp`, era, reconnectDelayMs: 1, maxReconnectDelayMs: 5 },
    ]);
    const client = clients.client();
    expect(await echo(client)).toBe('echo a');
    await server.close();
    await expect(echo(client)).rejects.toThrow();
    server = await serveOn(port);
    expect(await eventually(() => Promise.all([echo(client, 'b'), echo(client, 'c')]))).toEqual([
      'echo b',
      'echo c',
    ]);
    await server.close();
  });
});

it('asks once more, and all who ask at once, where the server has forgotten the session', async () => {
  const server = await startApp([Shop], { forceCloseConnections: true });
  const url = await server.url();
  const sessions = new Set<unknown>();
  (server.app.getHttpServer() as Server).prependListener('request', ({ headers }) =>
    sessions.add(headers['mcp-session-id']),
  );
  const clients = await startClients([{ name: 'shop', url, era: 'legacy' }]);
  const client = clients.client();
  await echo(client);
  const [session] = [...sessions].filter(id => typeof id === 'string');
  await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session } });
  expect(await Promise.all(['b', 'c', 'd'].map(text => echo(client, text)))).toEqual([
    'echo b',
    'echo c',
    'echo d',
  ]);
  await clients.close();
  await server.close();
});

it('does not try again before the delay is over', async () => {
  let attempts = 0;
  const clients = await startClients([
    {
      name: 'shop',
      transport: () => {
        attempts++;
        throw new Error('unplugged');
      },
      reconnectDelayMs: 60_000,
    },
  ]);
  const client = clients.client();
  await expect(client.listTools()).rejects.toThrow('The connection "shop" could not be opened: unplugged');
  await expect(client.listTools()).rejects.toThrow('The connection "shop" is down: unplugged');
  expect(attempts).toBe(1);
  await clients.close();
});

describe('while a connection opens', () => {
  let clients: ClientApp;
  let plugged: Deferred;
  let client: McpClient;
  let server: TestApp;
  let attempts: number;

  beforeEach(async () => {
    attempts = 0;
    plugged = deferred();
    server = await startApp([Shop], { forceCloseConnections: true });
    const url = await server.url();
    clients = await startClients([
      {
        name: 'shop',
        url,
        headers: async () => {
          attempts++;
          await plugged.promise;
          return {};
        },
        era: 'modern',
      },
    ]);
    client = clients.client();
  });
  afterEach(async () => {
    plugged.resolve();
    await clients.close();
    await server.close();
  });

  it('one caller may give up, and the others wait on', async () => {
    const controller = new AbortController();
    const given = client.listTools(undefined, { signal: controller.signal });
    const other = echo(client);
    controller.abort(new Error('enough'));
    await expect(given).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT', message: 'Error: enough' });
    plugged.resolve();
    expect(await other).toBe('echo a');
  });

  it('a caller waits no longer than its timeout', async () => {
    await expect(client.listTools(undefined, { timeout: 20 })).rejects.toMatchObject({
      code: 'REQUEST_TIMEOUT',
      message: 'Request timed out',
    });
    plugged.resolve();
    expect(await echo(client)).toBe('echo a');
  });

  it('a caller that gave up before opens nothing', async () => {
    await expect(client.listTools(undefined, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'REQUEST_TIMEOUT',
    });
    expect(attempts).toBe(0);
  });

  it('the application may close, and whoever waits is told', async () => {
    const waiting = client.listTools();
    const told = expect(waiting).rejects.toThrow('The connection "shop" is closed');
    await clients.close();
    await told;
    await expect(client.listTools()).rejects.toThrow('The connection "shop" is closed');
  });
});

it('cancels at the server what one caller gives up, and that alone', async () => {
  const started = deferred();
  const stopped = deferred();
  @Injectable()
  class Slow {
    @Tool()
    async wait(@Ctx() { signal }: McpContext) {
      started.resolve();
      await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
      stopped.resolve();
    }
  }
  const server = await startApp([Shop, Slow], { forceCloseConnections: true });
  const clients = await startClients([{ name: 'shop', url: await server.url() }]);
  const controller = new AbortController();
  const waiting = clients.client().callTool({ name: 'wait' }, { signal: controller.signal });
  const told = expect(waiting).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
  await started.promise;
  controller.abort();
  await told;
  await stopped.promise;
  expect(await echo(clients.client())).toBe('echo a');
  await clients.close();
  await server.close();
});

describe('HTTP', () => {
  const seen: { method: string | undefined; headers: IncomingHttpHeaders }[] = [];
  let server: TestApp;
  let front: Server;
  let url: string;

  // In front of the real server, to see what it is sent.
  beforeAll(async () => {
    server = await startApp([Shop], { forceCloseConnections: true });
    const target = await server.url();
    front = createServer((request, response) => {
      seen.push({ method: request.method, headers: request.headers });
      response.writeHead(307, { location: target }).end();
    });
    await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
  });
  afterAll(async () => {
    front.closeAllConnections();
    await new Promise(resolve => front.close(resolve));
    await server.close();
  });
  beforeEach(() => (seen.length = 0));

  const use = async (options: Partial<McpClientOptions>): Promise<void> => {
    const clients = await startClients([{ name: 'shop', url, era: 'legacy', ...options }]);
    await clients
      .client()
      .listTools()
      .catch(() => undefined);
    await clients.close();
  };

  it.each([
    ['fixed', { 'x-key': 'abc' }],
    ['made anew', () => ({ 'x-key': 'abc' })],
    ['made anew, in a while', async () => ({ 'x-key': 'abc' })],
  ])('headers are sent: %s', async (_how, headers) => {
    await use({ headers });
    expect(seen.map(({ headers: sent }) => sent['x-key'])).toContain('abc');
  });

  it('headers are sent to nobody else, wherever the server may point to', async () => {
    const elsewhere: IncomingHttpHeaders[] = [];
    (server.app.getHttpServer() as Server).prependListener('request', ({ headers }) =>
      elsewhere.push(headers),
    );
    await use({ headers: { 'x-key': 'abc' } });
    expect(elsewhere.filter(sent => 'x-key' in sent)).toEqual([]);
  });

  it('bearer tokens are sent', async () => {
    await use({ auth: { token: async () => 'abc' } });
    expect(seen[0].headers.authorization).toBe('Bearer abc');
  });
});

it('a session is ended with the application', async () => {
  const server = await startApp([Shop], { forceCloseConnections: true });
  const methods: (string | undefined)[] = [];
  (server.app.getHttpServer() as Server).prependListener('request', ({ method }) => methods.push(method));
  const clients = await startClients([{ name: 'shop', url: await server.url(), era: 'legacy' }]);
  await echo(clients.client());
  await clients.close();
  expect(methods.at(-1)).toBe('DELETE');
  await server.close();
});
