import { crash, deny, hang, mutator, pass, run, validator, warn, type StubOptions } from './stubs.js';

type Kind = 'pass' | 'deny' | 'warn' | 'crash' | 'timeout';
const VALIDATORS = { pass, deny, warn, crash, timeout: hang };

/** [mode, failOpen, what it does, status, outcome, whether it is said that it failed open] */
const VALIDATOR_ROWS: [StubOptions['mode'], boolean, Kind, string, string, boolean][] = [
  ['active', false, 'pass', 'success', 'pass', false],
  ['active', false, 'deny', 'validation_failed', 'deny', false],
  ['active', false, 'warn', 'success', 'warn', false],
  ['active', false, 'crash', 'validation_failed', 'crash', false],
  ['active', false, 'timeout', 'validation_failed', 'timeout', false],
  ['active', true, 'pass', 'success', 'pass', false],
  ['active', true, 'deny', 'validation_failed', 'deny', false],
  ['active', true, 'warn', 'success', 'warn', false],
  ['active', true, 'crash', 'success', 'crash', true],
  ['active', true, 'timeout', 'success', 'timeout', true],
  ['audit', false, 'pass', 'success', 'pass', false],
  ['audit', false, 'deny', 'success', 'deny', false],
  ['audit', false, 'warn', 'success', 'warn', false],
  ['audit', false, 'crash', 'success', 'crash', false],
  ['audit', false, 'timeout', 'success', 'timeout', false],
  ['audit', true, 'pass', 'success', 'pass', false],
  ['audit', true, 'deny', 'success', 'deny', false],
  ['audit', true, 'warn', 'success', 'warn', false],
  ['audit', true, 'crash', 'success', 'crash', false],
  ['audit', true, 'timeout', 'success', 'timeout', false],
];

const unmodified = () => ({ modified: false });
const change = () => ({ modified: true, payload: { changed: true } });
const MUTATORS = { unmodified, change, nonsense: () => 42, crash, timeout: hang };

/** [mode, failOpen, what it does, status, outcome, whether the payload changed, whether it is said that it failed open] */
const MUTATOR_ROWS: [
  StubOptions['mode'],
  boolean,
  keyof typeof MUTATORS,
  string,
  string,
  boolean,
  boolean,
][] = [
  ['active', false, 'unmodified', 'success', 'unmodified', false, false],
  ['active', false, 'change', 'success', 'mutated', true, false],
  ['active', false, 'nonsense', 'mutation_failed', 'crash', false, false],
  ['active', false, 'crash', 'mutation_failed', 'crash', false, false],
  ['active', false, 'timeout', 'mutation_failed', 'timeout', false, false],
  ['active', true, 'unmodified', 'success', 'unmodified', false, false],
  ['active', true, 'change', 'success', 'mutated', true, false],
  ['active', true, 'nonsense', 'success', 'crash', false, true],
  ['active', true, 'crash', 'success', 'crash', false, true],
  ['active', true, 'timeout', 'success', 'timeout', false, true],
  ['audit', false, 'unmodified', 'success', 'unmodified', false, false],
  ['audit', false, 'change', 'success', 'mutated', false, false],
  ['audit', false, 'nonsense', 'success', 'crash', false, false],
  ['audit', false, 'crash', 'success', 'crash', false, false],
  ['audit', false, 'timeout', 'success', 'timeout', false, false],
  ['audit', true, 'unmodified', 'success', 'unmodified', false, false],
  ['audit', true, 'change', 'success', 'mutated', false, false],
  ['audit', true, 'nonsense', 'success', 'crash', false, false],
  ['audit', true, 'crash', 'success', 'crash', false, false],
  ['audit', true, 'timeout', 'success', 'timeout', false, false],
];

describe.each(['send', 'receive'] as const)('in the direction %s', direction => {
  it.each(VALIDATOR_ROWS)(
    'a validator (%s, failOpen %s) that would %s: %s',
    async (mode, failOpen, kind, status, outcome, failedOpen) => {
      const payload = { a: 1 };
      const result = await run([validator('v', VALIDATORS[kind], { mode, failOpen })], {
        direction,
        payload,
      });
      expect(result.status).toBe(status);
      expect(result.results).toMatchObject([
        { interceptor: 'v', host: 'local', type: 'validation', outcome },
      ]);
      expect(result.results[0].mode).toBe(mode === 'audit' ? 'audit' : undefined);
      expect(result.results[0].failedOpen ?? false).toBe(failedOpen);
      expect('finalPayload' in result).toBe(status === 'success');
      if (status === 'success') expect(result.finalPayload).toBe(payload);
      else
        expect(result.abortedAt).toMatchObject({
          interceptor: 'v',
          type: kind === 'timeout' ? 'timeout' : 'validation',
        });
    },
  );

  it.each(MUTATOR_ROWS)(
    'a mutator (%s, failOpen %s) that would %s: %s',
    async (mode, failOpen, kind, status, outcome, changed, failedOpen) => {
      const payload = { a: 1 };
      const result = await run([mutator('m', MUTATORS[kind], { mode, failOpen })], { direction, payload });
      expect(result.status).toBe(status);
      expect(result.results).toMatchObject([{ interceptor: 'm', type: 'mutation', outcome }]);
      expect(result.results[0].failedOpen ?? false).toBe(failedOpen);
      if (changed) expect(result.finalPayload).toEqual({ changed: true });
      else if (status === 'success') expect(result.finalPayload).toBe(payload);
      else expect('finalPayload' in result).toBe(false);
      expect(payload).toEqual({ a: 1 });
    },
  );
});

describe('a validator', () => {
  it.each([
    ['no severity and no message', {}, 'validation_failed', 'error'],
    [
      'the highest severity of its messages',
      {
        messages: [
          { message: 'a', severity: 'info' },
          { message: 'b', severity: 'warn' },
        ],
      },
      'success',
      'warn',
    ],
    [
      'a message of severity error',
      { messages: [{ message: 'a', severity: 'error' }] },
      'validation_failed',
      'error',
    ],
    [
      'its own severity before its messages',
      { severity: 'info', messages: [{ message: 'a', severity: 'error' }] },
      'success',
      'info',
    ],
    ['an unknown severity', { severity: 'fatal' }, 'validation_failed', 'error'],
  ])('that says valid: false with %s is taken as %s', async (_what, rest, status, severity) => {
    const result = await run([validator('v', () => ({ valid: false, ...rest }))]);
    expect(result.status).toBe(status);
    expect(result.results[0].severity).toBe(severity);
  });

  it('that says valid: true never blocks, whatever else it says', async () => {
    const result = await run([
      validator('v', () => ({
        valid: true,
        severity: 'error',
        messages: [{ message: 'x', severity: 'error' }],
      })),
    ]);
    expect(result.status).toBe('success');
    expect(result.results[0]).not.toHaveProperty('severity');
  });

  it.each([
    ['nothing', undefined],
    ['a number', 1],
    ['no valid', {}],
    ['a valid that is no boolean', { valid: 'yes' }],
  ])('that answers with %s has failed', async (_what, value) => {
    const result = await run([validator('v', () => value)]);
    expect(result).toMatchObject({ status: 'validation_failed', results: [{ outcome: 'crash' }] });
  });

  it('may nest its result, as another implementation does', async () => {
    const result = await run([validator('v', () => ({ validation: { valid: false, severity: 'error' } }))]);
    expect(result.status).toBe('validation_failed');
  });
});

it('all validators complete before the message is rejected, and the first in entry order is named', async () => {
  const seen: string[] = [];
  const slow = validator('slow', async () => {
    await new Promise(setImmediate);
    seen.push('slow');
    return { valid: false };
  });
  const result = await run([
    slow,
    validator('fast', deny),
    validator('fine', () => (seen.push('fine'), { valid: true })),
  ]);
  expect(seen.sort()).toEqual(['fine', 'slow']);
  expect(result.abortedAt?.interceptor).toBe('slow');
  expect(result.results.map(({ interceptor }) => interceptor)).toEqual(['slow', 'fast', 'fine']);
  expect(result.validationSummary).toEqual({ errors: 2, warnings: 0, infos: 0 });
});

it('counts errors, warnings and infos', async () => {
  const info = () => ({ valid: false, severity: 'info' });
  const result = await run([
    validator('a', warn),
    validator('b', info),
    validator('c', deny, { mode: 'audit' }),
  ]);
  expect(result.validationSummary).toEqual({ errors: 1, warnings: 1, infos: 1 });
  expect(result.status).toBe('success');
});
