import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, connect as connectTo, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { freePort } from '../../sample/support/free-port.js';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import {
  connect,
  type Era,
  ERAS,
  EVERYTHING,
  everythingProcesses,
  outcomeOf,
  startGateway,
  type Running,
} from './support.js';

// Backends are processes, which compile what they load.
jest.setTimeout(120_000);

const UNREACHABLE = {
  code: -32603,
  message: 'The server behind this gateway cannot be reached; try again later',
};

/** A backend as a process of its own, on a port. */
class BackendProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
    readonly said: Inbox<string>,
  ) {}

  static async start(port = 0): Promise<BackendProcess> {
    const hook = join(__dirname, '../fixtures/ts-hook.cjs');
    const child = spawn(process.execPath, ['-r', hook, join(__dirname, 'backend-app.ts')], {
      env: { ...process.env, RUN_BACKEND: '1', PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = new Inbox<string>();
    createInterface({ input: child.stdout }).on('line', said.put);
    const [, listening] = /^LISTENING (\d+)$/.exec(await said.take()) ?? [];
    return new BackendProcess(child, Number(listening), said);
  }

  async kill(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}

const OPENING = {
  legacy: {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  },
  modern: {
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
};

/** The first request of a client, by hand: the SDK's client keeps some errors to itself. */
function open(url: string, era: Era, signal?: AbortSignal): Promise<Response> {
  const { method, params } = OPENING[era];
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(era === 'modern' && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: signal ?? null,
  });
}

/** The error that it is answered with. */
async function openingError(url: string, era: Era): Promise<unknown> {
  return ((await (await open(url, era)).json()) as { error?: unknown }).error;
}

describe.each(ERAS)('a gateway whose backend fails, for a %s client', era => {
  let gateway: Running;
  afterEach(() => gateway?.app.close());

  it('says so, and recovers without a restart', async () => {
    const port = await freePort();
    gateway = await startGateway({
      backend: { url: `http://127.0.0.1:${port}/mcp`, reconnectDelayMs: 1, maxReconnectDelayMs: 1 },
    });
    expect(await openingError(gateway.url, era)).toEqual(UNREACHABLE);

    let backend = await BackendProcess.start(port);
    const client = await connect(gateway.url, era);
    const changed = new Inbox<string>();
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.put('changed'));
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    const first = textOf(await client.callTool({ name: 'pid' }));

    const call = outcomeOf(client.callTool({ name: 'wait' }));
    expect(await backend.said.take()).toBe('WAITING');
    await backend.kill();
    expect(await call).toMatchObject({ code: -32603 });
    expect(await outcomeOf(client.callTool({ name: 'pid' }))).toMatchObject(UNREACHABLE);

    backend = await BackendProcess.start(port);
    // Once the gateway is back, the client is told that it may have missed something.
    await changed.take();
    const second = textOf(await client.callTool({ name: 'pid' }));
    expect(second).not.toBe(first);
    await client.close();
    await backend.kill();
  });

  it('recovers from the death of a backend that it started', async () => {
    gateway = await startGateway({ backend: EVERYTHING });
    const client = await connect(gateway.url, era);
    const env = JSON.stringify(await client.callTool({ name: 'get-env' }));
    expect(env).toContain('NESTJS_MCP_HOPS');
    const long = client.callTool({
      name: 'trigger-long-running-operation',
      arguments: { duration: 600, steps: 1 },
    });
    const outcome = outcomeOf(long);
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'a' } }))).toBe('Echo: a');
    for (const pid of await everythingProcesses()) process.kill(pid, 'SIGKILL');
    expect(await outcome).toMatchObject(UNREACHABLE);
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'b' } }))).toBe('Echo: b');
    await client.close();
  });
});

/** The reference server over HTTP, as a process of its own. */
async function everythingOn(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [EVERYTHING.args[0], 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes('listening')) break;
  }
  child.stderr.resume();
  return child;
}

describe.each(ERAS)('the reference server over HTTP behind a gateway, for a %s client', era => {
  it('answers again after a restart, though it says 400 of the sessions before', async () => {
    const port = await freePort();
    const kill = async (child: ChildProcess) => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    };
    const first = await everythingOn(port);
    const gateway = await startGateway({
      backend: { url: `http://127.0.0.1:${port}/mcp`, reconnectDelayMs: 1, maxReconnectDelayMs: 1 },
    });
    const client = await connect(gateway.url, era);
    const echo = async () => textOf(await client.callTool({ name: 'echo', arguments: { message: 'a' } }));
    expect(await echo()).toBe('Echo: a');
    await kill(first);
    const second = await everythingOn(port);
    expect(await echo()).toBe('Echo: a');
    expect(await echo()).toBe('Echo: a');
    await client.close();
    await gateway.app.close();
    await kill(second);
  });
});

/** Lets a connection go on to a port. */
function tunnel(socket: Socket, port: number): void {
  const ahead = connectTo(port, '127.0.0.1');
  ahead.on('error', () => socket.destroy());
  socket.on('error', () => ahead.destroy());
  socket.pipe(ahead).pipe(socket);
}

describe('a gateway', () => {
  it('goes on connecting for the others when one caller gives up', async () => {
    // Takes connections, and answers once it is told to.
    const sockets = new Inbox<Socket>();
    const server: Server = createServer(sockets.put).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const gateway = await startGateway({ backend: { url: `http://127.0.0.1:${port}/mcp` } });
    const backend = await BackendProcess.start();
    const cancel = new AbortController();
    const first = outcomeOf(open(gateway.url, 'legacy', cancel.signal));
    const socket = await sockets.take();
    const second = open(gateway.url, 'legacy');
    cancel.abort();
    await first;
    tunnel(socket, backend.port);
    server.on('connection', one => tunnel(one, backend.port));
    expect(await (await second).text()).toContain('"name":"backend"');
    await gateway.app.close();
    await backend.kill();
    server.close();
  });

  it('closes though its backend never answers to the end of a session', async () => {
    const ends = new Inbox<IncomingMessage>();
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.method === 'DELETE') return ends.put(request);
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = (await json(request)) as { id?: number; method: string };
      if (id === undefined) return void response.writeHead(202).end();
      const result =
        method === 'initialize'
          ? {
              protocolVersion: '2025-11-25',
              capabilities: { tools: {} },
              serverInfo: { name: 'b', version: '1' },
            }
          : { tools: [] };
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    };
    const server = createHttpServer((request, response) => void answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const gateway = await startGateway({
      backend: { url: `http://127.0.0.1:${port}/mcp`, era: 'legacy' },
    });
    const client = await connect(gateway.url, 'modern');
    expect(await client.listTools()).toMatchObject({ tools: [] });
    await client.close();
    await gateway.app.close();
    // The base's and the pool's.
    expect(ends.size).toBe(2);
    server.closeAllConnections();
    server.close();
  });

  it('ends a loop of gateways that connect to each other', async () => {
    const port = await freePort();
    const connectTimeoutMs = 200;
    const one = await startGateway({ backend: { url: `http://127.0.0.1:${port}/mcp`, connectTimeoutMs } });
    const other = await startGateway({ backend: { url: one.url, connectTimeoutMs } }, [], port);
    for (const era of ERAS) expect(await openingError(one.url, era)).toEqual(UNREACHABLE);
    await other.app.close();
    await one.app.close();
  });

  it('refuses a request that went through too many gateways', async () => {
    const gateway = await startGateway({ backend: EVERYTHING });
    const client = await connect(gateway.url, 'modern');
    const echo = (hops: unknown) =>
      client.callTool({ name: 'echo', arguments: { message: 'a' }, _meta: { 'nestjs-mcp/hops': hops } });
    expect(textOf(await echo(7))).toBe('Echo: a');
    expect(await outcomeOf(echo(8))).toMatchObject({ code: -32000, data: { reason: 'gateway_loop' } });
    await client.close();
    await gateway.app.close();
  });
});
