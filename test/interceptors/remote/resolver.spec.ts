import { Injectable } from '@nestjs/common';
import {
  InterceptorChainRunner,
  Tool,
  type InterceptorServerOptions,
  type McpInterceptorOptions,
} from 'nestjs-mcp';
import { deferred } from '../../fixtures/deferred.js';
import { startApp, textOf, type TestApp } from '../../fixtures/matrix.js';
import { StubHost, validator } from './stub-host.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }
}

const apps: TestApp[] = [];
afterEach(async () => {
  for (const test of apps.splice(0)) await test.close();
});

const deniesAll = () => new StubHost('rules', [validator('v', () => ({ valid: false }))]);
const allowsAll = () => new StubHost('rules', [validator('v')]);

async function shop(
  resolveServers: McpInterceptorOptions['resolveServers'],
  more: McpInterceptorOptions = {},
) {
  const test = await startApp([Shop], { mcp: { interceptors: { resolveServers, ...more } } });
  apps.push(test);
  const open = async (tenant: string) => {
    const client = await test.client({ headers: { 'x-tenant': tenant } });
    return client.callTool({ name: 'open' }).then(textOf, ({ code }: { code: number }) => code);
  };
  return { open };
}

/** A host for each tenant. */
const byTenant =
  (hosts: Record<string, StubHost>): McpInterceptorOptions['resolveServers'] =>
  ({ headers }) => {
    const tenant = String(headers['x-tenant']);
    return [{ ...hosts[tenant].with(), connectionId: tenant }] satisfies InterceptorServerOptions[];
  };

it('servers can be chosen for each message, by who calls, and each caller has its own chain', async () => {
  const hosts = { strict: deniesAll(), lax: allowsAll() };
  const { open } = await shop(byTenant(hosts));
  expect(await Promise.all([open('strict'), open('lax'), open('strict')])).toEqual([-32602, 'open', -32602]);
  // A call that passes is checked in both phases.
  expect([hosts.strict.invoked.length, hosts.lax.invoked.length]).toEqual([2, 2]);
});

it('those of one connection id are one host, listed once', async () => {
  const host = allowsAll();
  const { open } = await shop(byTenant({ one: host, other: host }));
  await Promise.all([open('one'), open('one'), open('one')]);
  expect(host.lists).toBe(1);
});

it('they join those that are always asked, and the policy', async () => {
  const [always, chosen] = [new StubHost('always', [validator('a')]), deniesAll()];
  const { open } = await shop(byTenant({ t: chosen }), {
    servers: [always.with()],
    overrides: { 'rules/v': { mode: 'audit' } },
  });
  expect(await open('t')).toBe('open');
  expect([always.invoked.length, chosen.invoked.length]).toEqual([2, 2]);
});

it.each([
  [
    'throws',
    () => {
      throw new Error('no tenant');
    },
  ],
  ['rejects', () => Promise.reject(new Error('no tenant'))],
  ['names no way to reach a server', () => [{ name: 'nowhere' }]],
  ['returns something else', () => 7 as never],
])('a resolver that %s lets nothing pass', async (_what, resolveServers) => {
  const { open } = await shop(resolveServers);
  expect(await open('any')).toBe(-32603);
});

it('the one used longest ago is closed where there are too many, and opened again when it is chosen again', async () => {
  const hosts = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`t${index}`, allowsAll()]));
  const { open } = await shop(byTenant(hosts));
  for (const tenant of Object.keys(hosts)) expect(await open(tenant)).toBe('open');
  expect(await open('t100')).toBe('open');
  expect(await open('t0')).toBe('open');
  expect([hosts['t0'].lists, hosts['t100'].lists]).toEqual([2, 1]);
}, 30_000);

it('two of one connection id are two hosts, where their names differ', async () => {
  const [rules, style] = [allowsAll(), new StubHost('style', [validator('v', () => ({ valid: false }))])];
  const { open } = await shop(() => [
    { ...rules.with(), connectionId: 'tenant' },
    { ...style.with(), connectionId: 'tenant' },
  ]);
  expect(await open('any')).toBe(-32602);
});

it.each([
  ['two of one name', () => [allowsAll().with(), { ...allowsAll().with(), connectionId: 'other' }]],
  ['one with an option that is none', () => [{ ...allowsAll().with({ send: { payloads: [] } as never }) }]],
])('a resolver that chooses %s lets nothing pass', async (_what, resolveServers) => {
  const { open } = await shop(resolveServers);
  expect(await open('any')).toBe(-32603);
});

it('a run of the application’s own asks the servers that are chosen for its context', async () => {
  const host = new StubHost('rules', [
    validator('v', () => ({ valid: false }), { hooks: [{ events: ['llm/completion'], phase: 'request' }] }),
  ]);
  const test = await startApp([Shop], {
    mcp: {
      interceptors: {
        resolveServers: ({ context }) => (context.principal?.id === 'ada' ? [host.with()] : []),
      },
    },
  });
  apps.push(test);
  const runner = test.app.get(InterceptorChainRunner, { strict: false });
  const run = (id: string) =>
    runner.run('llm/completion', 'request', {}, { context: { principal: { type: 'user', id } } });
  expect((await run('ada')).status).toBe('validation_failed');
  expect((await run('bob')).status).toBe('success');
});

it('a resolver that fails for a caller that is gone is no unhandled rejection, and is not asked for one', async () => {
  const asked = deferred();
  const answer = deferred<InterceptorServerOptions[]>();
  let times = 0;
  const resolveServers = () => {
    times++;
    asked.resolve();
    return answer.promise;
  };
  const test = await startApp([Shop], { mcp: { interceptors: { resolveServers } } });
  apps.push(test);
  const runner = test.app.get(InterceptorChainRunner, { strict: false });
  const run = (signal: AbortSignal) => runner.run('llm/completion', 'request', {}, { signal });
  const controller = new AbortController();
  const running = run(controller.signal);
  await asked.promise;
  controller.abort(new Error('gone'));
  await expect(running).rejects.toThrow('gone');
  await expect(run(controller.signal)).rejects.toThrow('gone');
  expect(times).toBe(1);
  answer.reject(new Error('no tenant'));
  await new Promise(setImmediate);
});
