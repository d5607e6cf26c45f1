import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HostileReport } from '../fixtures/hostile.js';
import { soakSize } from '../fixtures/soak.js';

const CALLS = soakSize(10_000, 2000);
/** The heap in use is taken for the first time after a fifth of the calls, which warm everything up. */
const MEASURED_CALLS = CALLS - CALLS / 5;
/**
 * A call leaves less than 50 bytes behind, client included; anything that is kept for each call is more than 200. Over a
 * short loop, what Node compiles and caches counts as well.
 */
const MAX_BYTES_PER_CALL = soakSize(200, 1500);

const UNHARMED = 'ok';

/** What each kind of call is answered with: [what the interceptor does, validators, mutators] */
const ANSWERS: [string, string, string][] = [
  ['throws', '-32602', '-32603'],
  ['throws no error', '-32602', '-32603'],
  ['rejects', '-32602', '-32603'],
  ['throws what cannot be told', '-32602', '-32603'],
  ['rejects with what cannot be told', '-32602', '-32603'],
  ['rejects late', '-32602', '-32603'],
  ['rejects when given up', '-32602', '-32603'],
  ['hangs', '-32602', '-32603'],
  ['returns nonsense', '-32602', '-32603'],
  ['returns nonsense later', '-32602', '-32603'],
  ['has a getter that throws', '-32602', '-32603'],
  ['changes what it is given', '-32602', '-32603'],
  ['changes what it is given, and says nothing', UNHARMED, UNHARMED],
  ['returns a circle', '-32602', '-32603'],
  ['renames', '-32602', '-32603'],
];
const PLACES = ['validator', 'mutator', 'response validator', 'response mutator'];

const EXPECTED: Record<string, string> = {
  ...Object.fromEntries(
    PLACES.flatMap(place =>
      ANSWERS.map(([does, validator, mutator]) => [
        `${place} ${does}`,
        place.endsWith('validator') ? validator : mutator,
      ]),
    ),
  ),
  'nobody harm': UNHARMED,
  // Only what a request is for may not be changed: a result has no name.
  'response mutator renames': UNHARMED,
};

describe(`${CALLS} calls through interceptors that do their worst`, () => {
  let report: HostileReport;

  beforeAll(async () => {
    const fixtures = join(__dirname, '../fixtures');
    const args = [
      '--expose-gc',
      '-r',
      join(fixtures, 'ts-hook.cjs'),
      join(fixtures, 'hostile.ts'),
      `${CALLS}`,
    ];
    const env = { PATH: process.env['PATH'] };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 2 ** 26 });
    report = JSON.parse(stdout) as HostileReport;
  }, 400_000);

  it('are each answered, and with the right code', () => {
    const counts = Object.values(report.answers).flatMap(answers => Object.values(answers));
    expect(counts.reduce((sum, count) => sum + count)).toBe(CALLS);
    const answers = Object.entries(report.answers).map(([kind, told]) => [kind, Object.keys(told).join()]);
    expect(Object.fromEntries(answers)).toEqual(EXPECTED);
  });

  it('give away nothing of what was thrown', () => {
    expect(report.leaks).toEqual([]);
  });

  it('leave no rejection unhandled, those of a sink included', () => {
    expect(report.recorded).toBe(CALLS);
    expect(report.unhandled).toEqual([]);
  });

  it('leave nothing in memory', () => {
    const { heap } = report;
    expect(heap).toHaveLength(5);
    expect((heap[4] - heap[0]) / MEASURED_CALLS).toBeLessThan(MAX_BYTES_PER_CALL);
  });
});
