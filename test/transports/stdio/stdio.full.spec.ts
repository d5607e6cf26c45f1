import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { textOf } from '../../fixtures/matrix.js';

const fixtures = join(__dirname, '../../fixtures');
const args = ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'stdio-app.ts')];

interface Connection {
  readonly client: Client;
  readonly stderr: () => string;
}

async function connect(era: 'modern' | 'legacy', env: Record<string, string> = {}): Promise<Connection> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  let stderr = '';
  transport.stderr?.on('data', chunk => (stderr += String(chunk)));
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  );
  await client.connect(transport);
  return { client, stderr: () => stderr };
}

describe.each(['modern', 'legacy'] as const)('stdio, %s', era => {
  let connection: Connection;
  beforeAll(async () => {
    connection = await connect(era);
  });
  afterAll(() => connection.client.close());

  it('keeps everything but the protocol off stdout', async () => {
    const result = await connection.client.callTool({ name: 'noisy', arguments: { text: 'hi' } });
    expect(textOf(result)).toBe('hi');
    expect(connection.stderr()).toMatch(/a stray line[^]*another one[^]*a log line/);
  });

  it('tells the client of new tools and of changed resources', async () => {
    const { client } = connection;
    const changed = new Promise<void>(resolve => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
    });
    const updated = new Promise<string>(resolve => {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
    });
    if (era === 'modern')
      await client.listen({ toolsListChanged: true, resourceSubscriptions: ['state://a'] });
    else await client.subscribeResource({ uri: 'state://a' });
    await client.callTool({ name: 'grow' });
    await changed;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('grown');
    expect(textOf(await client.callTool({ name: 'grown' }))).toBe('grown');
    await client.callTool({ name: 'touch' });
    expect(await updated).toBe('state://a');
  });
});

describe.each(['modern', 'legacy'] as const)('calls over stdio, %s', era => {
  let connection: Connection;
  afterEach(() => connection.client.close());

  it('are refused past the cap of a caller', async () => {
    connection = await connect(era, { MAX_CALLS: '2' });
    const { client } = connection;
    const giveUp = new AbortController();
    const held = [1, 2].map(() => client.callTool({ name: 'wait' }, { signal: giveUp.signal }));
    const ended = Promise.allSettled(held);
    await expect(client.callTool({ name: 'progress' })).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining('Too many calls'),
      data: { statusCode: 429 },
    });
    giveUp.abort();
    await ended;
    // A place is free once a handler has ended.
    let text: string | undefined;
    while (text === undefined) {
      text = await client.callTool({ name: 'progress' }).then(textOf, () => undefined);
    }
    expect(text).toBe('done');
  });

  it('are answered with an error when they have run for too long', async () => {
    connection = await connect(era, { CALL_TIMEOUT_MS: '50' });
    await expect(connection.client.callTool({ name: 'wait' })).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining('did not finish within 50 ms'),
    });
    expect(connection.stderr()).toContain('"calls.timeoutMs"');
  });
});

describe('stdio', () => {
  it('refuses 2025-era clients where told to', async () => {
    await expect(connect('legacy', { LEGACY: 'reject' })).rejects.toThrow();
  });

  it('writes nothing but JSON-RPC, survives a line that is none, and ends with its stdin', async () => {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines: string[] = [];
    const answered = new Promise<void>(resolve => {
      createInterface({ input: child.stdout }).on('line', line => {
        lines.push(line);
        if (line.includes('"id":3')) resolve();
      });
    });
    const clientInfo = { name: 'raw', version: '1' };
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const write = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    write({ id: 1, method: 'initialize', params: initialize });
    write({ method: 'notifications/initialized' });
    child.stdin.write('this is no JSON\n');
    write({ id: 2, method: 'tools/call', params: { name: 'noisy', arguments: { text: 'a' } } });
    const _meta = { progressToken: 'p' };
    write({ id: 3, method: 'tools/call', params: { name: 'progress', _meta } });
    await answered;
    const exited = once(child, 'exit');
    child.stdin.end();
    expect(await exited).toEqual([0, null]);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
    const messages = lines.map(line => JSON.parse(line) as { id?: number; params?: object });
    expect(messages.flatMap(({ id }) => id ?? []).sort()).toEqual([1, 2, 3]);
    const progress = messages.findIndex(({ id }) => id === undefined);
    expect(messages[progress].params).toEqual({ progressToken: 'p', progress: 1 });
    expect(progress).toBeLessThan(messages.findIndex(({ id }) => id === 3));
  });

  it('fires the signal of a running call when the client goes away', async () => {
    const child = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, SHUTDOWN_TIMEOUT_MS: '1' },
    });
    const write = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const answers = createInterface({ input: child.stdout });
    let stderr = '';
    child.stderr.on('data', chunk => (stderr += String(chunk)));
    const clientInfo = { name: 'raw', version: '1' };
    write({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    });
    await once(answers, 'line');
    write({ id: 2, method: 'tools/call', params: { name: 'wait' } });
    write({ id: 3, method: 'ping' });
    await once(answers, 'line');
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
    expect(stderr).toContain('ABORTED');
  });
});
