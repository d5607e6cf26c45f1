import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Inbox } from '../fixtures/inbox.js';

const fixtures = join(__dirname, '../fixtures');

interface Message {
  readonly id?: number | null;
  readonly method?: string;
  readonly result?: { content?: readonly { text: string }[] };
  readonly error?: { code: number; message: string };
}

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
