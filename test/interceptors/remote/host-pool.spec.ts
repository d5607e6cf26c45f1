import { HostLease, HostPool } from '../../../lib/interceptors/remote/host-pool.js';
import { DiscoveryError } from '../../../lib/interceptors/remote/remote-host.js';
import { deferred } from '../../fixtures/deferred.js';
import { StubHost, validator } from './stub-host.js';

const poolOf = (maxHosts: number) => new HostPool({ warn: () => undefined }, maxHosts);

const INVOCATION = {
  name: 'v',
  event: 'tools/call',
  phase: 'request',
  direction: 'send',
  payload: {},
} as const;

/** One message of its own: it lists the host where it has to, asks it, and lets go of it. */
async function ask(pool: HostPool, stub: StubHost): Promise<unknown> {
  const lease = new HostLease();
  try {
    const [entry] = await (await pool.get(stub.with(), lease)).entries();
    const { signal } = new AbortController();
    return await entry.invoke({ ...INVOCATION, signal, timeoutMs: 1000, bag: new Map() });
  } finally {
    lease.end();
  }
}

it('a full pool of busy hosts does not close the one that was just chosen', async () => {
  const gate = deferred();
  const busy = new StubHost('busy', [validator('v', () => gate.promise.then(() => ({ valid: true })))]);
  const chosen = new StubHost('chosen', [validator('v')]);
  const pool = poolOf(1);
  const asked = ask(pool, busy);
  while (busy.invoked.length === 0) await new Promise(setImmediate);
  expect(await ask(pool, chosen)).toEqual({ valid: true });
  expect(await ask(pool, chosen)).toEqual({ valid: true });
  expect(chosen.lists).toBe(1);
  gate.resolve();
  expect(await asked).toEqual({ valid: true });
  await pool.close();
});

it('a host is not closed while it is listed, nor between that and its invocation', async () => {
  const pool = poolOf(1);
  const listed = deferred();
  const mine = new StubHost('mine', [validator('v')]);
  const list = mine.onList;
  mine.onList = async cursor => {
    await listed.promise;
    return list(cursor);
  };
  const lease = new HostLease();
  const host = await pool.get(mine.with(), lease);
  const listing = host.entries();
  expect(await ask(pool, new StubHost('one', [validator('v')]))).toEqual({ valid: true });
  listed.resolve();
  const [entry] = await listing;
  expect(await ask(pool, new StubHost('other', [validator('v')]))).toEqual({ valid: true });
  const { signal } = new AbortController();
  const asked = entry.invoke({ ...INVOCATION, signal, timeoutMs: 1000, bag: new Map() });
  expect(await asked).toEqual({ valid: true });
  expect(await pool.get(mine.with(), lease)).toBe(host);
  lease.end();
  await pool.close();
});

it('twice as many hosts as are kept can be in use at once, and one more is refused until a message has ended', async () => {
  const pool = poolOf(2);
  const leases = Array.from({ length: 4 }, () => new HostLease());
  const hosts = leases.map((_, index) => new StubHost(`h${index}`, [validator('v')]));
  for (const [index, lease] of leases.entries()) await pool.get(hosts[index].with(), lease);
  const late = new StubHost('late', [validator('v')]);
  await expect(ask(pool, late)).rejects.toThrow(DiscoveryError);
  // One that is open already is no further one.
  expect(await ask(pool, hosts[0])).toEqual({ valid: true });
  leases[3].end();
  expect(await ask(pool, late)).toEqual({ valid: true });
  for (const lease of leases) lease.end();
  await pool.close();
});

it('a host that is wanted by a message which has ended meanwhile is not held', async () => {
  const pool = poolOf(1);
  const lease = new HostLease();
  lease.end();
  const stub = new StubHost('gone', [validator('v')]);
  const host = await pool.get(stub.with(), lease);
  await ask(pool, new StubHost('next', [validator('v')]));
  expect(await pool.get(stub.with(), new HostLease())).not.toBe(host);
  await pool.close();
});

const url = 'http://127.0.0.1:1/mcp';
const token = () => ({ authorization: 'one' });

it.each([
  ['another client', { invoker: new StubHost('a', []) }, { invoker: new StubHost('b', []) }],
  ['other headers', { url, headers: { authorization: 'one' } }, { url, headers: { authorization: 'other' } }],
  ['another function', { url, headers: token }, { url, headers: () => ({ authorization: 'other' }) }],
  ['another address', { url }, { url: new URL('/other', url) }],
  ['more that it is sent', { url, send: { payload: ['/name'] } }, { url }],
])('%s under the same name and connection id is another host', async (_what, one, other) => {
  const pool = poolOf(10);
  const lease = new HostLease();
  const get = (options: object) => pool.get({ name: 'rules', connectionId: 'tenant', ...options }, lease);
  expect(await get(one)).toBe(await get({ ...one }));
  expect(await get(one)).not.toBe(await get(other));
  lease.end();
  await pool.close();
});

it('the same settings are the same host, however they are written', async () => {
  const pool = poolOf(10);
  const lease = new HostLease();
  const one = await pool.get({ name: 'a', url, headers: { x: '1', y: '2' } }, lease);
  const headers = { y: '2', x: '1' };
  expect(await pool.get({ headers, url: new URL(url), name: 'a', connectionId: undefined }, lease)).toBe(one);
  lease.end();
  await pool.close();
});
