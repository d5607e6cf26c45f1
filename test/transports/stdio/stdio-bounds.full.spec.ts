import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Inbox } from '../../fixtures/inbox.js';

const fixtures = join(__dirname, '../../fixtures');

interface Message {
  readonly id?: number | null;
  readonly method?: string;
  readonly result?: { content?: readonly { text: string }[] };
  readonly error?: { code: number; message: string };
}

const started: ChildProcessByStdio<Writable, Readable, Readable>[] = [];
afterEach(() => started.splice(0).forEach(child => child.kill('SIGKILL')));

/** A server in a process of its own, and a client that writes what it likes. */
class Server {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly messages = new Inbox<Message>();
  readonly exited: Promise<unknown[]>;
  stderr = '';

  constructor(env: Record<string, string> = {}) {
    this.child = spawn(
      process.execPath,
      ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'stdio-app.ts')],
      { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } },
    );
    started.push(this.child);
    this.exited = once(this.child, 'close');
    this.child.stderr.on('data', chunk => (this.stderr += String(chunk)));
  }

  read(): void {
    createInterface({ input: this.child.stdout }).on('line', line =>
      this.messages.put(JSON.parse(line) as Message),
    );
  }

  send(message: object): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  call(id: number, name: string, params: object = {}): void {
    this.send({ id, method: 'tools/call', params: { name, ...params } });
  }

  initialize(): void {
    const clientInfo = { name: 'raw', version: '1' };
    this.send({
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    });
  }
}

describe('stdio, where stdin closes in the middle of a call', () => {
  it('answers what finishes in time, then ends', async () => {
    const server = new Server();
    server.read();
    server.initialize();
    server.call(1, 'untilEnd');
    server.child.stdin.end();
    expect(await server.messages.take()).toMatchObject({ id: 0 });
    expect(await server.messages.take()).toMatchObject({
      id: 1,
      result: { content: [{ text: 'finished' }] },
    });
    expect(await server.exited).toEqual([0, null]);
  });

  it('answers what does not with an error', async () => {
    const server = new Server({ SHUTDOWN_TIMEOUT_MS: '1' });
    server.read();
    server.initialize();
    server.call(1, 'wait');
    server.child.stdin.end();
    expect(await server.messages.take()).toMatchObject({ id: 0 });
    expect(await server.messages.take()).toMatchObject({
      id: 1,
      error: { code: -32000, message: 'The server is shutting down' },
    });
    await server.exited;
    expect(server.stderr).toContain('"shutdownTimeoutMs"');
  });
});

describe('stdio, where a client sends or leaves unread too much', () => {
  it('skips a line that is too long, and says so', async () => {
    const server = new Server();
    server.read();
    server.initialize();
    server.call(1, 'noisy', { arguments: { text: 'x'.repeat(11 * 1024 * 1024) } });
    server.send({ id: 2, method: 'ping' });
    expect(await server.messages.take()).toMatchObject({ id: 0 });
    const error = { code: -32600, message: expect.stringContaining('10485760') };
    expect(await server.messages.take()).toMatchObject({ id: null, error });
    expect(await server.messages.take()).toMatchObject({ id: 2, result: {} });
    server.child.stdin.end();
    expect(await server.exited).toEqual([0, null]);
    expect(server.stderr).toMatch(/ERROR.*10485760/);
  });

  it('drops log messages past a bound, and nothing else', async () => {
    const server = new Server();
    server.initialize();
    const calls = Array.from({ length: 20 }, (_, index) => index + 1);
    const said = new Promise<void>(resolve => {
      let heard = '';
      server.child.stderr.on('data', chunk => {
        heard += String(chunk);
        if (heard.split('LOUD').length > calls.length) resolve();
      });
    });
    for (const id of calls) server.call(id, 'loud');
    await said;
    let logs = 0;
    const answered = new Set<unknown>();
    server.read();
    while (answered.size < calls.length + 1) {
      const { id, method } = await server.messages.take();
      if (method === 'notifications/message') logs++;
      else answered.add(id);
    }
    // Of the 400 messages of 100 kB, those up to 1 MiB, and what the pipe holds.
    expect(logs).toBeGreaterThan(5);
    expect(logs).toBeLessThan(40);
    server.child.stdin.end();
    expect(await server.exited).toEqual([0, null]);
  });

  it('ends with an error where answers are left unread', async () => {
    const server = new Server();
    server.initialize();
    server.child.stdin.write(
      Array.from({ length: 60 }, (_, index) =>
        JSON.stringify({ jsonrpc: '2.0', id: index + 1, method: 'tools/call', params: { name: 'big' } }),
      ).join('\n') + '\n',
    );
    const [code] = await once(server.child, 'exit');
    server.child.stdout.destroy();
    expect(code).toBe(1);
    await server.exited;
    expect(server.stderr).toMatch(/ERROR.*67108864/);
  });
});
