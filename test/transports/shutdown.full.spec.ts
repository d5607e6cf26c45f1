import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { PLATFORMS, type Platform } from '../fixtures/adapters.js';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { outcomeOf } from '../gateway/support.js';

const ERAS = ['modern', 'legacy'] as const;
const CALLS = 100;
const SHUTDOWN_TIMEOUT_MS = 5000;

const fixtures = join(__dirname, '../fixtures');

type Child = ChildProcessByStdio<null, Readable, null>;

const start = (platform: Platform): Child =>
  spawn(process.execPath, ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'shutdown-app.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PLATFORM: platform, SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS) },
  });

async function clientOf(url: URL, era: (typeof ERAS)[number]): Promise<Client> {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
  return client;
}

/** Connections that no request is answered on: silent, idle, and with half a request. */
async function uselessConnections(url: URL): Promise<Socket[]> {
  const head = 'host: 127.0.0.1\r\ncontent-type: application/json\r\n';
  const texts = [
    '',
    `GET /nowhere HTTP/1.1\r\n${head}\r\n`,
    'GET /mcp HTTP/1.1\r\nhost: 127',
    `POST /mcp HTTP/1.1\r\n${head}content-length: 10\r\n\r\n{`,
    `POST /upload HTTP/1.1\r\n${head}content-length: 10\r\n\r\n{`,
  ];
  return Promise.all(
    texts.map(async text => {
      const socket = connect(Number(url.port), '127.0.0.1')
        .on('error', () => undefined)
        .resume();
      await once(socket, 'connect');
      socket.write(text);
      return socket;
    }),
  );
}

describe.each(PLATFORMS)('SIGTERM on %s', platform => {
  let child: Child;
  afterEach(() => child.kill('SIGKILL'));

  it.each([false, true])(
    'answers every running call, and exits in time (useless connections: %s)',
    async isBothered => {
      child = start(platform);
      const exited = once(child, 'exit');
      const lines = new Inbox<string>();
      createInterface({ input: child.stdout }).on('line', lines.put);
      const url = new URL((await lines.take()).replace('[::1]', '127.0.0.1'));
      const clients = await Promise.all(ERAS.map(era => clientOf(url, era)));
      const sockets = isBothered ? await uselessConnections(url) : [];
      const calls = clients.flatMap(client =>
        Array.from({ length: CALLS }, () => outcomeOf(client.callTool({ name: 'second' }))),
      );
      for (let begun = 0; begun < calls.length; begun++) expect(await lines.take()).toBe('begun');

      const before = performance.now();
      child.kill('SIGTERM');
      await exited;
      const took = performance.now() - before;
      const answers = (await Promise.all(calls)).map(answer => textOf(answer as object));
      expect(answers).toEqual(calls.map(() => 'done'));
      expect(took).toBeLessThan(SHUTDOWN_TIMEOUT_MS + 1000);
      await Promise.all(clients.map(client => client.close()));
      for (const socket of sockets) socket.destroy();
    },
  );
});
