import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, type CanActivate, type INestApplication } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { deferred } from '../../fixtures/deferred.js';
import { platforms, startApp, type TestApp } from '../../fixtures/matrix.js';

const BOTH = 2;

@Injectable()
class Tools {
  readonly signals: AbortSignal[] = [];
  readonly running = deferred();
  readonly aborted = deferred();

  @Tool()
  async wait(@Ctx() { signal }: McpContext) {
    this.signals.push(signal);
    if (this.signals.length === BOTH) this.running.resolve();
    await once(signal, 'abort');
    if (this.signals.every(one => one.aborted)) this.aborted.resolve();
  }

  @Tool()
  ping() {
    return 'pong';
  }
}

/** Takes its time with the requests that ask for it. */
class SlowGuard implements CanActivate {
  readonly asked = deferred();
  readonly release = deferred();

  async canActivate(context: { switchToHttp(): { getRequest(): { headers: Record<string, unknown> } } }) {
    if (!context.switchToHttp().getRequest().headers['x-slow']) return true;
    this.asked.resolve();
    await this.release.promise;
    return true;
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' };

const call = (id: number, name: string, _meta?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {}, ...(_meta && { _meta }) },
});

function rawRequest(url: string, headers: Record<string, string>, message?: object): string {
  const body = message ? JSON.stringify(message) : '';
  const lines = Object.entries({
    host: new URL(url).host,
    ...headers,
    'content-length': String(body.length),
  });
  return `${message ? 'POST' : 'GET'} /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

async function connectTo(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

const post = (url: string, headers: Record<string, string>, message: object) =>
  fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify(message) });

async function openSession(url: string): Promise<Record<string, string>> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  const answer = await post(url, {}, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  await answer.text();
  return { 'mcp-session-id': String(answer.headers.get('mcp-session-id')) };
}

/** Resolves when the server has seen that a connection is gone. */
const disconnect = async (app: INestApplication, socket: Socket) => {
  const server = app.getHttpServer() as Server;
  const count = () => new Promise<number>(resolve => server.getConnections((_error, open) => resolve(open)));
  const before = await count();
  socket.destroy();
  while ((await count()) >= before) await nextTurn();
};

describe.each(platforms())('a client that hangs up on %s', platform => {
  let test: TestApp;
  let url: string;
  let tools: Tools;
  let guard: SlowGuard;
  beforeEach(async () => {
    guard = new SlowGuard();
    test = await startApp([Tools], { platform, configure: app => app.useGlobalGuards(guard) });
    url = await test.url();
    tools = test.app.get(Tools);
  });
  afterEach(() => test.close());

  it.each(['2026-07-28', '2025-11-25'])('ends the pipelined calls of %s, too', async era => {
    const own = era === '2026-07-28' ? MODERN : await openSession(url);
    const meta = era === '2026-07-28' ? META : undefined;
    const socket = await connectTo(url);
    for (const id of [1, 2]) socket.write(rawRequest(url, { ...HEADERS, ...own }, call(id, 'wait', meta)));
    await tools.running.promise;
    socket.destroy();
    await tools.aborted.promise;
    expect(tools.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it.each(['2026-07-28', '2025-11-25'])('is not called any more after a slow guard, in %s', async era => {
    const own = era === '2026-07-28' ? MODERN : await openSession(url);
    const meta = era === '2026-07-28' ? META : undefined;
    const socket = await connectTo(url);
    socket.write(rawRequest(url, { ...HEADERS, ...own, 'x-slow': '1' }, call(1, 'wait', meta)));
    await guard.asked.promise;
    await disconnect(test.app, socket);
    guard.release.resolve();
    // The id is free, and nothing of the call that nobody waits for has run.
    const again = await post(url, { ...own, 'mcp-name': 'ping' }, call(1, 'ping', meta));
    expect(await again.json()).toMatchObject({ id: 1, result: { content: [{ text: 'pong' }] } });
    expect(tools.signals).toEqual([]);
  });

  it('leaves its session another stream after a slow guard', async () => {
    const own = await openSession(url);
    const socket = await connectTo(url);
    socket.write(rawRequest(url, { accept: 'text/event-stream', ...own, 'x-slow': '1' }));
    await guard.asked.promise;
    await disconnect(test.app, socket);
    guard.release.resolve();
    const stream = await fetch(url, { headers: { accept: 'text/event-stream', ...own } });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });
});
