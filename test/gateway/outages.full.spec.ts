import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LoggerService } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import type { GatewayBackend, McpGatewayOptions } from 'nestjs-mcp/gateway';
import { BackendLog } from '../../lib/gateway/backend-log.js';
import { fakeBackend, type FakeBackend, type FakeCall } from './fake-backend.js';
import { connect, outcomeOf, startGateway, type Running } from './support.js';

/** Keeps all lines, of every level. */
class Lines implements LoggerService {
  readonly all: string[] = [];
  private readonly write =
    (level: string) =>
    (message: unknown): void => {
      this.all.push(`${level} ${String(message)}`);
    };
  log = this.write('log');
  error = this.write('error');
  warn = this.write('warn');
  debug = this.write('debug');
  verbose = this.write('verbose');
}

const REFUSED = { url: 'http://127.0.0.1:1/mcp' };
const UNREACHABLE = { message: 'The server behind this gateway cannot be reached; try again later' };

let gateway: Running | undefined;
let client: Client | undefined;
let lines: Lines;
let backend: FakeBackend | undefined;
afterEach(async () => {
  await client?.close();
  await gateway?.app.close();
  backend?.close();
  client = gateway = backend = undefined;
});

async function start(options: McpGatewayOptions): Promise<string> {
  gateway = await startGateway(options);
  gateway.app.useLogger((lines = new Lines()));
  return gateway.url;
}

describe('a gateway whose backend is down', () => {
  it('logs that it is down, and that it is up again with a count, but no line for each call', async () => {
    let isDown = false;
    const unlessDown = (answer: (call: FakeCall) => void) => (call: FakeCall) =>
      isDown ? void call.response.destroy() : answer(call);
    backend = await fakeBackend({
      'tools/list': unlessDown(({ reply }) =>
        reply({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
      ),
      'tools/call': unlessDown(({ reply }) => reply({ content: [] })),
    });
    client = await connect(await start({ backend: { url: backend.url } }), 'modern');
    await client.callTool({ name: 't' });
    isDown = true;
    for (let count = 0; count < 40; count += 1) {
      expect(await outcomeOf(client.callTool({ name: 't' }))).toMatchObject(UNREACHABLE);
    }
    isDown = false;
    await client.callTool({ name: 't' });
    await client.callTool({ name: 't' });
    const [down, up, ...others] = lines.all.filter(line => !line.startsWith('debug'));
    expect(down).toMatch(/^warn .*gateway.*fetch failed/);
    expect(up).toBe('log The backend "gateway" answers again, after 39 more failures');
    expect(others).toEqual([]);
    expect(lines.all.length).toBeLessThan(25);
  });

  it('does not log each list that it is left out of', async () => {
    backend = await fakeBackend({});
    client = await connect(await start({ backends: { down: REFUSED, up: { url: backend.url } } }), 'modern');
    for (let count = 0; count < 20; count += 1) {
      expect((await client.listTools(undefined, { cacheMode: 'refresh' })).tools).toMatchObject([
        { name: 'up_t' },
      ]);
    }
    const warnings = lines.all.filter(line => !line.startsWith('debug'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('It is left out of lists until it answers');
    expect(lines.all.length).toBeLessThan(25);
  });

  it('logs a count once a minute, and a backend that comes and goes at most every ten seconds', () => {
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    const written: string[] = [];
    const log = new BackendLog('b', { warn: line => written.push(line), log: line => written.push(line) });
    for (let second = 0; second <= 120; second += 1) {
      now.mockReturnValue(1_000_000 + second * 1000);
      log.failed('broken');
    }
    expect(written).toEqual([
      'broken',
      'broken (59 failures before this one were not logged)',
      'broken (59 failures before this one were not logged)',
    ]);
    for (let second = 121; second <= 180; second += 1) {
      now.mockReturnValue(1_000_000 + second * 1000);
      log.answered();
      log.failed('broken');
    }
    now.mockRestore();
    expect(written.length).toBeLessThan(3 + 2 * 7);
    expect(written[3]).toBe('The backend "b" answers again');
  });
});

describe('a backend that does not start', () => {
  async function warningOf(options: GatewayBackend, prefix?: string): Promise<string> {
    const url = await start(
      prefix === undefined ? { backend: options } : { backends: { [prefix]: options } },
    );
    await outcomeOf(connect(url, 'modern'));
    const [warning, ...others] = lines.all.filter(line => line.startsWith('warn'));
    expect(others).toEqual([]);
    return warning;
  }

  it('is named with the program that cannot be started, and the option', async () => {
    expect(await warningOf({ command: '/nowhere/server' }, 'shop')).toBe(
      'warn The backend "gateway/shop" cannot be started: spawn /nowhere/server ENOENT. Check "backends.shop.command", and "backends.shop.cwd" if it is set. It is left out of lists until it answers',
    );
  });

  it('is named with the program that ends at once, and the options', async () => {
    const ends = { command: process.execPath, args: ['-e', 'process.exit(3)'], stderr: 'ignore' as const };
    expect(await warningOf(ends)).toMatch(
      /^warn The backend "gateway" ended before it answered: .*\. Run "backend\.command" with "backend\.args" by hand to see why; it gets only "backend\.env" and a few variables, such as PATH$/,
    );
  });

  it('is named with the URL that refuses connections, without its query', async () => {
    const closed = await fakeBackend({});
    closed.close();
    const warning = await warningOf({ url: `${closed.url}?key=secret` });
    expect(warning).toContain(`warn The backend "gateway" cannot be reached at ${closed.url}: `);
    expect(warning).toMatch(/ECONNREFUSED.*\. Check "backend\.url", and that the server runs$/);
    expect(warning).not.toContain('secret');
  });

  it.each([
    [401, '"backend.auth" or "backend.headers"'],
    [404, 'the path in "backend.url"'],
  ])('is named with the option that a server with HTTP %d asks for', async (status, option) => {
    const server = createServer((_, response) => void response.writeHead(status).end()).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const warning = await warningOf({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    });
    expect(warning).toContain(`Check ${option}`);
    server.closeAllConnections();
    server.close();
  });
});
