import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Tool, Validator } from 'nestjs-mcp';
import { z } from 'zod';
import { Inbox } from '../fixtures/inbox.js';
import { startApp } from '../fixtures/matrix.js';
import { StubHost, validator } from './remote/stub-host.js';

// A host over stdio is a process, which compiles what it loads.
jest.setTimeout(60_000);

const anything = z.looseObject({});
const CHANGED = 'notifications/interceptors/list_changed';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }

  @Validator({ name: 'host-check', events: ['tools/call'] })
  check() {
    return true;
  }
}

describe('a host whose policy changes', () => {
  let folder: string;
  let file: string;
  const write = (policy: string) => {
    writeFileSync(`${file}.new`, policy);
    renameSync(`${file}.new`, file);
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'policy-'));
    file = join(folder, 'policy.yaml');
    write('{}');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const changes = async (client: Client) => {
    const told = new Inbox<string>();
    client.setNotificationHandler(CHANGED, { params: anything }, () => told.put('changed'));
    const list = () => client.request({ method: 'interceptors/list', params: {} }, anything);
    const before = (await list())['interceptors'] as object[];
    expect(before[0]).not.toHaveProperty('mode');
    write('overrides: { host-check: { mode: audit } }');
    expect(await told.take()).toBe('changed');
    expect(((await list())['interceptors'] as object[])[0]).toHaveProperty('mode', 'audit');
  };

  it('tells a session', async () => {
    const test = await startApp([Shop], { mcp: { interceptors: { expose: true, policyFile: file } } });
    await changes(await test.client({ era: 'legacy' }));
    await test.close();
  });

  it.each(['modern', 'legacy'] as const)('tells its client over stdio (%s)', async era => {
    const fixtures = join(__dirname, '../fixtures');
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
    );
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'interceptor-host.ts'), 'stdio'],
        stderr: 'ignore',
        env: { PATH: process.env['PATH'] ?? '', POLICY_FILE: file },
      }),
    );
    await changes(client);
    await client.close();
  });
});

describe('how long a listing is believed', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it.each([
    [{}, 5000],
    [{ cache: { 'interceptors/list': { ttlMs: 700 } } }, 700],
  ])('is advertised: %j', async (mcp, ttlMs) => {
    const test = await startApp([Shop], { mcp: { ...mcp, interceptors: { expose: true } } });
    const client = await test.client();
    expect(await client.request({ method: 'interceptors/list', params: {} }, anything)).toMatchObject({
      ttlMs,
    });
    await test.close();
  });

  it('is as long as its host says, where that is shorter', async () => {
    const host = new StubHost('rules', [validator('v')]);
    const { onList } = host;
    host.onList = cursor => ({ ...(onList(cursor) as object), ttlMs: 5000 });
    const test = await startApp([Shop], { mcp: { interceptors: { servers: [host.with()] } } });
    const client = await test.client();
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
    await client.callTool({ name: 'open' });
    clock.mockReturnValue(now + 4999);
    await client.callTool({ name: 'open' });
    expect(host.lists).toBe(1);
    clock.mockReturnValue(now + 5000);
    await client.callTool({ name: 'open' });
    expect(host.lists).toBe(2);
    clock.mockRestore();
    await test.close();
  });
});
