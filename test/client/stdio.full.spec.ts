import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { McpClient, McpClientOptions } from 'nestjs-mcp/client';
import { deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startClients, textOf } from './fixtures.js';

const ERAS = ['modern', 'legacy'] as const;
const fixtures = join(__dirname, '../fixtures');
const echo = async (client: McpClient, text = 'a') =>
  textOf(await client.callTool({ name: 'echo', arguments: { text } }));

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

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe.each([...ERAS, 'auto'] as const)('a connection to a program, %s', era => {
  const program: McpClientOptions = {
    name: 'shop',
    command: process.execPath,
    args: ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'stdio-guarded-app.ts')],
    env: { PATH: process.env['PATH'] ?? '' },
    stderr: 'ignore',
    era,
    connectTimeoutMs: 60_000,
  };
  const pidOf = async (client: McpClient) => Number((await echo(client)).split(':', 1)[0]);

  it('is opened by the first use, opened anew once the program is gone, and ends it with the application', async () => {
    const clients = await startClients([program]);
    const client = clients.client();
    const first = await pidOf(client);
    process.kill(first, 'SIGKILL');
    const second = await eventually(() => pidOf(client));
    expect(second).not.toBe(first);
    expect(isAlive(second)).toBe(true);
    await clients.close();
    expect(isAlive(second)).toBe(false);
  }, 120_000);
});

it('ends a program that is still being asked what it speaks', async () => {
  const pids: number[] = [];
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const started = deferred();
  class Watched extends StdioClientTransport {
    override async start() {
      await super.start();
      pids.push(this.pid!);
      started.resolve();
    }
  }
  const clients = await startClients([
    {
      name: 'shop',
      era: 'legacy',
      transport: () =>
        new Watched({ command: process.execPath, args: ['-e', 'process.stdin.resume()'], stderr: 'ignore' }),
    },
  ]);
  const told = expect(clients.client().listTools()).rejects.toThrow('The connection "shop" is closed');
  await started.promise;
  await clients.close();
  await told;
  expect(isAlive(pids[0])).toBe(false);
}, 20_000);

it('a call without a definition is not warned of', async () => {
  const clients = await startClients([
    {
      name: 'shop',
      era: 'modern',
      command: process.execPath,
      args: ['-r', join(fixtures, 'ts-hook.cjs'), join(__dirname, '../headers/stdio-app.ts')],
      stderr: 'ignore',
    },
  ]);
  const logs = new LogSpy();
  clients.app.useLogger(logs);
  await clients.client().callTool({ name: 'mirror', arguments: { text: 'a' } });
  expect(logs.warnings).toEqual([]);
  await clients.close();
});
