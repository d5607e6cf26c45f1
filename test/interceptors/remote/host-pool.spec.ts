import { HostPool } from '../../../lib/interceptors/hosts/host-pool.js';
import { deferred } from '../../fixtures/deferred.js';
import { StubHost, validator } from './stub-host.js';

it('a full pool of busy hosts does not close the one that was just chosen', async () => {
  const gate = deferred();
  const busy = new StubHost('busy', [validator('v', () => gate.promise.then(() => ({ valid: true })))]);
  const chosen = new StubHost('chosen', [validator('v')]);
  const pool = new HostPool({ warn: () => undefined }, 1);
  const invocation = {
    name: 'v',
    event: 'tools/call',
    phase: 'request',
    direction: 'send',
    payload: {},
  } as const;
  const ask = async (stub: StubHost) => {
    const [entry] = await (await pool.get(stub.with())).entries();
    const { signal } = new AbortController();
    return entry.invoke({ ...invocation, signal, timeoutMs: 1000, bag: new Map() });
  };
  const asked = ask(busy);
  while (busy.invoked.length === 0) await new Promise(setImmediate);
  expect(await ask(chosen)).toEqual({ valid: true });
  expect(await ask(chosen)).toEqual({ valid: true });
  expect(chosen.lists).toBe(1);
  gate.resolve();
  expect(await asked).toEqual({ valid: true });
  await pool.close();
});
