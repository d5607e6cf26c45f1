import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Injectable } from '@nestjs/common';
import { Args, InterceptorChainRunner, Tool, type ChainReport } from 'nestjs-mcp';
import type { HostPolicy, InterceptorServerOptions } from 'nestjs-mcp/interceptors';
import { startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

const fixtures = join(__dirname, '../../fixtures');
const script = ['-r', join(fixtures, 'ts-hook.cjs'), join(fixtures, 'interceptor-host.ts')];

@Injectable()
class Shop {
  @Tool({ inputSchema: { type: 'object' } })
  order(@Args() args: Record<string, unknown>) {
    return JSON.stringify(args['marks'] ?? []);
  }
}

const processes: ChildProcess[] = [];
const apps: TestApp[] = [];

/** A host over HTTP, in a process of its own. */
async function overHttp(name: string, { port = '0', priority = '0' } = {}) {
  const child = spawn(process.execPath, [...script, port], {
    env: { PATH: process.env['PATH'], HOST_NAME: name, PRIORITY: priority },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  processes.push(child);
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, url, options: { name, url, reconnectDelayMs: 1 } };
}

/** A host over stdio, which the application starts by itself. */
const overStdio = (name: string, priority = '0'): InterceptorServerOptions => ({
  name,
  command: process.execPath,
  args: [...script, 'stdio'],
  env: { PATH: process.env['PATH'] ?? '', HOST_NAME: name, PRIORITY: priority },
  stderr: 'ignore',
  reconnectDelayMs: 1,
});

async function shop(servers: InterceptorServerOptions[], failOpen = false) {
  const names = servers.flatMap(({ name }) => [`${name}-check`, `${name}-mark`]);
  const overrides = Object.fromEntries(names.map(name => [name, { failOpen, timeoutMs: 5000 }]));
  // A process may take long to start on a busy machine; how long is not what is tested here.
  const patient = servers.map(server => ({ discoveryTimeoutMs: 30_000, ...server }));
  const interceptors = { servers: patient, overrides, timeoutMs: 40_000 };
  const test = await startApp([Shop], { mcp: { interceptors } });
  apps.push(test);
  const client = await test.client();
  const order = (does = 'nothing') =>
    client
      .callTool({ name: 'order', arguments: { does } })
      .then(textOf, ({ code }: { code: number }) => code);
  return { test, order };
}

/** Asks until the answer is there: a process that was started again needs a moment to be found. */
async function until(answer: unknown, ask: () => Promise<unknown>): Promise<void> {
  for (;;) if ((await ask()) === answer) return;
}

afterEach(async () => {
  for (const test of apps.splice(0)) await test.close();
  for (const child of processes.splice(0)) child.kill('SIGKILL');
});

it('three processes, over HTTP and stdio, make one chain; the report says whose each interceptor is', async () => {
  const one = await overHttp('one', { priority: '10' });
  const two = await overHttp('two', { priority: '-10' });
  const { test, order } = await shop([one.options, two.options, overStdio('three')]);
  const reports: ChainReport[] = [];
  test.app.get(InterceptorChainRunner, { strict: false }).reports$.subscribe(report => reports.push(report));
  expect(await order()).toBe('["two","three","one"]');
  const [{ result }] = reports;
  expect(
    result.results.map(({ host, interceptor, outcome }) => `${host}/${interceptor}: ${outcome}`),
  ).toEqual([
    'one/one-check: pass',
    'two/two-check: pass',
    'three/three-check: pass',
    'two/two-mark: mutated',
    'three/three-mark: mutated',
    'one/one-mark: mutated',
  ]);
  expect(await order('deny')).toBe(-32602);
}, 120_000);

describe.each([
  ['HTTP', async () => overHttp('far')],
  ['stdio', async () => ({ options: overStdio('far') })],
] as const)('a process over %s that is killed in mid-call', (_way, start) => {
  it.each([
    { failOpen: false, answer: /^-32602$/ },
    // The mutator after it may already be asked in the process that takes its place.
    { failOpen: true, answer: /^\[("far")?\]$/ },
  ])(
    'is a failure of its interceptor, and failOpen: $failOpen decides',
    async ({ failOpen, answer }) => {
      const { options } = await start();
      const { order } = await shop([{ ...options, breaker: { volume: 1000 } }], failOpen);
      expect(await order()).toBe('["far"]');
      expect(`${await order('die')}`).toMatch(answer);
    },
    120_000,
  );
});

it('a process over stdio that was killed is started again', async () => {
  const { order } = await shop([{ ...overStdio('far'), breaker: { volume: 1000 } }]);
  await order('die');
  await until('["far"]', order);
}, 120_000);

it('a process over HTTP that was killed is found again once it is back', async () => {
  const { child, url, options } = await overHttp('far');
  const { order } = await shop([{ ...options, breaker: { volume: 1000 } }]);
  expect(await order()).toBe('["far"]');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await order()).toBe(-32602);
  await overHttp('far', { port: new URL(url).port });
  await until('["far"]', order);
}, 120_000);

it('a caller that goes away is told to the host, whose process lives on', async () => {
  const { child, options } = await overHttp('far');
  const { test, order } = await shop([options]);
  const client = await test.client();
  const controller = new AbortController();
  const invoked = once(createInterface(child.stderr), 'line');
  const given = client.callTool(
    { name: 'order', arguments: { does: 'hang' } },
    { signal: controller.signal },
  );
  await invoked;
  controller.abort();
  await expect(given).rejects.toThrow();
  expect(await order()).toBe('["far"]');
}, 120_000);

const POLICY: HostPolicy = { breaker: { volume: 2, resetMs: 120_000 } };

it.each([
  [false, -32602],
  [true, '[]'],
])(
  'a host that keeps failing is not asked any more, and failOpen: %j decides',
  async (failOpen, answer) => {
    const { child, options } = await overHttp('far');
    const { order } = await shop([{ ...options, ...POLICY }], failOpen);
    expect(await order()).toBe('["far"]');
    child.kill('SIGKILL');
    await once(child, 'exit');
    for (let call = 0; call < 5; call++) expect(await order()).toBe(answer);
  },
  120_000,
);
