import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, McpServerRegistry, Tool } from 'nestjs-mcp';
import { deferred } from '../fixtures/deferred.js';
import { EventReader } from '../fixtures/event-reader.js';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';

const HALF_OPEN = 500;
/** More than a session stores, and far more than may wait for a client. */
const MESSAGES = 3_000;
const TEXT = 'x'.repeat(10_000);

@Injectable()
class Tools {
  written = 0;
  readonly done = deferred();

  /** Says more than anybody reads. */
  @Tool()
  async flood(@Ctx() ctx: McpContext) {
    for (let message = 1; message <= MESSAGES; message++) await ctx.reportProgress(message, MESSAGES, TEXT);
    this.done.resolve();
    return 'done';
  }

  @Tool()
  ping() {
    return 'pong';
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function openSession(url: string): Promise<Record<string, string>> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const answer = await fetch(url, { method: 'POST', headers: HEADERS, body });
  await answer.text();
  return { ...HEADERS, 'mcp-session-id': String(answer.headers.get('mcp-session-id')) };
}

const call = (name: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken: 1 } },
});

describe.each(platforms())('on %s', platform => {
  let test: TestApp;
  let url: string;
  beforeEach(async () => {
    test = await startApp([Tools], { platform, mcp: { http: { bodyTimeoutMs: 300 } } });
    url = await test.url();
  });
  afterEach(() => test.close());

  const ping = async (session: Record<string, string>) => {
    const answer = await fetch(url, { method: 'POST', headers: session, body: JSON.stringify(call('ping')) });
    return { status: answer.status, body: await answer.json() };
  };

  it('a client that never reads holds no more than its bounds, and gets the end when it reads', async () => {
    const session = await openSession(url);
    const reader = await EventReader.open(url, session, call('flood'));
    // Nobody reads until the handler has said everything.
    await test.app.get(Tools).done.promise;
    const messages = await reader.messages();
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } });
    // What neither the connection nor the store had room for is lost, and the order is kept.
    expect(messages.length).toBeLessThan(MESSAGES);
    const told = messages.slice(0, -1).map(({ params }) => (params as { progress: number }).progress);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(new Set(told).size).toBe(told.length);
  });

  it('streams that are opened and left do not keep others from working', async () => {
    const session = await openSession(url);
    const { hostname, port } = new URL(url);
    const sockets: Socket[] = [];
    for (let index = 0; index < HALF_OPEN; index++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
      socket.write(
        `GET /mcp HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: text/event-stream\r\nMcp-Session-Id: guess-${index}\r\n`,
      );
    }
    expect(await ping(session)).toMatchObject({
      status: 200,
      body: { result: { content: [{ text: 'pong' }] } },
    });
    await test.app
      .get(McpServerRegistry)
      .add('tool', { name: 'late', inputSchema: { type: 'object' } }, () => 'late');
    for (const socket of sockets) socket.destroy();
    expect(await ping(session)).toMatchObject({ status: 200 });
  });

  it('a body that trickles is refused, and leaves the session as it was', async () => {
    const session = await openSession(url);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const head = Object.entries({ ...session, host: `${hostname}:${port}`, 'content-length': '1000' });
    socket.write(
      `POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n{"jsonrpc"`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 /);
    socket.destroy();
    expect(await ping(session)).toMatchObject({ status: 200 });
  });

  it.each(['', 'x', '../..', '0'.repeat(36), 'a,b', '%00'])(
    'a guessed session id %j opens nothing',
    async id => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...HEADERS, 'mcp-session-id': id },
        body: JSON.stringify(call('ping')),
      });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: -32001, message: 'Session not found' } });
    },
  );

  it('a session that has ended cannot be replayed', async () => {
    const { 'content-type': _type, ...session } = await openSession(url);
    expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(200);
    expect(await ping({ ...HEADERS, ...session })).toMatchObject({ status: 404 });
    const stream = await EventReader.open(url, { ...session, 'last-event-id': '1-0' });
    expect(stream.status).toBe(404);
    stream.cut();
  });
});
