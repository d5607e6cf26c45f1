import fc from 'fast-check';
import { Chain } from '../../../lib/interceptors/chain/chain.js';
import type { PriorityHint } from '../../../lib/interceptors/protocol/types.js';
import { crash, deny, mutator, run, sink, trailOf, validator } from './stubs.js';

const row = (name: string, priorityHint?: PriorityHint, host?: string) =>
  mutator(name, undefined, { priorityHint, host });

it.each([
  ['priority, lower first', [row('a', 10), row('b', -10), row('c')], ['b', 'c', 'a']],
  ['the name, where priorities are equal', [row('b'), row('c'), row('a')], ['a', 'b', 'c']],
  ['the name by code unit, not by locale', [row('a'), row('B'), row('ä'), row('Z')], ['B', 'Z', 'a', 'ä']],
  [
    'the whole range of 32 bits',
    [row('max', 2_147_483_647), row('min', -2_147_483_648), row('zero')],
    ['min', 'zero', 'max'],
  ],
  [
    'the phase of an object, a missing side being 0',
    [row('a', { response: -5 }), row('b', { request: -1 }), row('c', { request: 1 })],
    ['b', 'a', 'c'],
  ],
  ['all hosts as one list', [row('late', 1000, 'first'), row('early', -1000, 'second')], ['early', 'late']],
])('mutators run by %s', async (_what, entries, order) => {
  expect(trailOf(await run(entries))).toEqual(order);
});

it('mutators of one name and priority run in the order of their hosts, each on its own', async () => {
  const on = (host: string) =>
    mutator(
      'same',
      ({ payload }) => ({
        modified: true,
        payload: { trail: [...((payload as { trail?: string[] }).trail ?? []), host] },
      }),
      { host },
    );
  expect(trailOf(await run([on('x'), on('a')]))).toEqual(['x', 'a']);
});

it('an override of the priority replaces the declared one whole', async () => {
  const overridden = mutator('b', undefined, {
    priorityHint: { request: -10 },
    overrides: { priority: { response: 3 } },
  });
  expect(trailOf(await run([overridden, row('a')]))).toEqual(['a', 'b']);
});

it.each([
  ['send', ['m', 'v']],
  ['receive', ['v', 'm']],
] as const)('in the direction %s the order is %j', async (direction, order) => {
  const seen: string[] = [];
  const entries = [
    validator('v', () => (seen.push('v'), { valid: true })),
    mutator('m', () => (seen.push('m'), { modified: false })),
  ];
  await run(entries, { direction });
  expect(seen).toEqual(order);
});

it('validators see the mutated payload when sending, and the received one when receiving', async () => {
  const seen: unknown[] = [];
  const entries = [validator('v', ({ payload }) => (seen.push(payload), { valid: true })), mutator('m')];
  await run(entries, { direction: 'send' });
  await run(entries, { direction: 'receive' });
  expect(seen).toEqual([{ trail: ['m'] }, {}]);
});

it('validators run as one batch', async () => {
  let running = 0;
  let most = 0;
  const entry = (name: string) =>
    validator(name, async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
      return { valid: true };
    });
  await run([entry('a'), entry('b'), entry('c')]);
  expect(most).toBe(3);
});

it('a validator that denies keeps mutators from running when receiving', async () => {
  let ran = false;
  await run([validator('v', deny), mutator('m', () => ((ran = true), { modified: false }))]);
  expect(ran).toBe(false);
});

it('a mutator that fails keeps the other mutators, and validators, from running when sending', async () => {
  const ran: string[] = [];
  const note = (name: string) => () => (ran.push(name), { valid: true, modified: false });
  const payload = { a: 1 };
  const result = await run(
    [mutator('1'), mutator('2', crash), mutator('3', note('3')), validator('v', note('v'))],
    { direction: 'send', payload },
  );
  expect(ran).toEqual([]);
  expect(result).toMatchObject({
    status: 'mutation_failed',
    abortedAt: { interceptor: '2', type: 'mutation' },
  });
  expect(result.results.map(({ interceptor, outcome }) => [interceptor, outcome])).toEqual([
    ['1', 'mutated'],
    ['2', 'crash'],
  ]);
  expect('finalPayload' in result).toBe(false);
  expect(payload).toEqual({ a: 1 });
});

it('sinks run once per phase, after the decision, and nobody waits for them or minds their failures', async () => {
  const seen: unknown[] = [];
  const entries = [
    mutator('m'),
    sink('s', ({ payload }) => seen.push(payload)),
    sink('hangs', () => new Promise(() => undefined)),
    sink('crashes', crash),
  ];
  const result = await run(entries);
  expect(result.status).toBe('success');
  expect(seen).toEqual([{ trail: ['m'] }]);
});

const priority = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.record(
    { request: fc.integer({ min: -3, max: 3 }), response: fc.integer({ min: -3, max: 3 }) },
    { requiredKeys: [] },
  ),
  fc.constant(undefined),
);
const descriptor = fc.record({
  name: fc.string({ minLength: 1, maxLength: 3 }),
  priorityHint: priority,
  host: fc.constantFrom('x', 'y', 'z'),
});

it('any set of mutators runs in the order of a naive reference sort', async () => {
  const priorityOf = (hint: PriorityHint | undefined, phase: 'request' | 'response') =>
    hint === undefined ? 0 : typeof hint === 'number' ? hint : (hint[phase] ?? 0);
  await fc.assert(
    fc.asyncProperty(
      fc.array(descriptor, { maxLength: 12 }),
      fc.constantFrom('request', 'response'),
      async (entries, phase) => {
        const seen: number[] = [];
        const chain = new Chain(
          entries.map(({ name, ...rest }, index) =>
            mutator(name, () => (seen.push(index), { modified: false }), rest),
          ),
        );
        await chain.execute({ event: 'tools/call', phase, direction: 'send', payload: {} });
        const expected = entries
          .map((entry, index) => ({ ...entry, index }))
          .sort((a, b) => {
            const [left, right] = [priorityOf(a.priorityHint, phase), priorityOf(b.priorityHint, phase)];
            if (left !== right) return left - right;
            if (a.name !== b.name) return a.name < b.name ? -1 : 1;
            return a.index - b.index;
          });
        expect(seen).toEqual(expected.map(({ index }) => index));
      },
    ),
  );
});
