import { respondWith } from '../../lib/interceptors/authoring.js';
import { InterceptorServer } from '../../lib/interceptors/served/interceptor-server.js';
import { EVENT, mutator, validator } from './chain/stubs.js';
import type { ChainEntry } from '../../lib/interceptors/chain/entry.js';

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;

const unsteady = () => {
  let reads = 0;
  return {
    get name() {
      return reads++ === 0 ? 'a' : 5;
    },
  };
};

const invoke = (entry: ChainEntry, log: (message: string) => void = () => undefined) =>
  new InterceptorServer({ local: [entry] }, { pageSize: 10, log }).methods['interceptor/invoke'].answer(
    { reply: { signal: new AbortController().signal } } as never,
    { name: 'x', event: EVENT, phase: 'request', payload: { name: 'a' } },
  );

it.each([
  ['info that contains itself', validator('x', () => ({ valid: true, info: cyclic }))],
  ['a payload that contains itself', mutator('x', () => ({ modified: true, payload: cyclic }))],
])('what cannot be sent is a crash of the interceptor: %s', async (_what, entry) => {
  await expect(invoke(entry)).rejects.toMatchObject({ code: -32603, data: { interceptor: 'x' } });
});

it('an answer in the place of a handler cannot be sent, and the log says so', async () => {
  const log = jest.fn();
  const refused = invoke(
    mutator('x', () => respondWith({})),
    log,
  );
  await expect(refused).rejects.toMatchObject({ code: -32603, data: { reason: 'the interceptor failed' } });
  expect(log).toHaveBeenCalledWith(expect.stringContaining('it answered with respondWith'));
});

it('what was checked is what is sent', async () => {
  const entry = mutator('x', () => ({ modified: true, payload: unsteady() }));
  const result = await invoke(entry);
  expect(JSON.parse(JSON.stringify(result))).toMatchObject({ payload: { name: 'a' } });
});
