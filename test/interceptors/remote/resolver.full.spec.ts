import { Injectable } from '@nestjs/common';
import { InterceptorChainRunner, Tool, type McpInterceptorOptions } from 'nestjs-mcp';
import type { InterceptorServerOptions, RunOptions } from 'nestjs-mcp/interceptors';
import { deferred } from '../../fixtures/deferred.js';
import { startApp, textOf, type TestApp } from '../../fixtures/matrix.js';
import { mutator, StubHost, validator } from './stub-host.js';

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

const shop = (resolveServers: McpInterceptorOptions['resolveServers'], more: McpInterceptorOptions = {}) =>
  shopWith({ resolveServers, ...more });

async function shopWith(interceptors: McpInterceptorOptions) {
  const test = await startApp([Shop], { mcp: { interceptors } });
  apps.push(test);
  const open = async (tenant: string) => {
    const client = await test.client({ headers: { 'x-tenant': tenant } });
    return client.callTool({ name: 'open' }).then(textOf, ({ code }: { code: number }) => code);
  };
  return { open, app: test.app };
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

/** An application whose own chain is run for a tenant: `resolveServers` chooses by the principal's id. */
async function tenants(resolve: (id: string) => unknown) {
  const resolveServers = (({ context }) =>
    resolve(context.principal!.id!)) as McpInterceptorOptions['resolveServers'];
  const test = await startApp([Shop], { mcp: { interceptors: { resolveServers } } });
  apps.push(test);
  const runner = test.app.get(InterceptorChainRunner, { strict: false });
  return (id: string, payload: unknown = {}, options: RunOptions = {}) =>
    runner.run('tools/call', 'request', payload, {
      context: { principal: { type: 'user', id } },
      direction: 'send',
      checkPayload: () => undefined,
      ...options,
    });
}

it('what one tenant sends never goes to a host of another, whether or not it has a connection id', async () => {
  const hosts: Record<string, StubHost> = { a: allowsAll(), b: allowsAll() };
  const run = await tenants(id => [hosts[id].with()]);
  await run('a', { secretOf: 'a' });
  await run('b', { secretOf: 'b' });
  expect(hosts['a'].invoked.map(({ payload }) => payload)).toEqual([{ secretOf: 'a' }]);
  expect(hosts['b'].invoked.map(({ payload }) => payload)).toEqual([{ secretOf: 'b' }]);
});

it('a host is not closed under a message by the load of others, even one that fails open', async () => {
  const [reached, gate] = [deferred(), deferred()];
  const slow = new StubHost('slow', [
    {
      ...mutator('m'),
      answer: async ({ payload }) => {
        reached.resolve();
        await gate.promise;
        return { modified: false, payload };
      },
    },
  ]);
  const guard = new StubHost('rules', [validator('v', () => ({ valid: false }), { failOpen: true })]);
  const run = await tenants(id =>
    id === 'victim' ? [guard.with(), slow.with()] : [{ ...allowsAll().with(), connectionId: id }],
  );
  const running = run('victim', {}, { timeoutMs: 20_000 });
  await reached.promise;
  await Promise.all(Array.from({ length: 105 }, (_, index) => run(`t${index}`)));
  gate.resolve();
  const { status, results } = await running;
  expect(results.map(({ interceptor, outcome }) => [interceptor, outcome])).toEqual([
    ['m', 'unmodified'],
    ['v', 'deny'],
  ]);
  expect(status).toBe('validation_failed');
});

it.each([
  ['a resolver that never settles', () => ({ resolveServers: () => new Promise<never>(() => undefined) })],
  [
    'a host that never lists',
    () => {
      const host = allowsAll();
      host.onList = () => new Promise(() => undefined);
      return { servers: [host.with()] };
    },
  ],
])('%s ends with the time of the run, and with the server’s where it has none', async (_what, options) => {
  const { open, app } = await shopWith({ ...options(), timeoutMs: 200 });
  const runner = app.get(InterceptorChainRunner, { strict: false });
  const run = (more: RunOptions) => runner.run('tools/call', 'request', {}, more);
  expect(await run({ timeoutMs: 20 })).toMatchObject({ status: 'timeout', abortedAt: { type: 'timeout' } });
  expect(await run({})).toMatchObject({ status: 'timeout' });
  expect(await runner.simulate('tools/call', 'request', {})).toMatchObject({ status: 'timeout' });
  expect(await open('any')).toBe(-32603);
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
