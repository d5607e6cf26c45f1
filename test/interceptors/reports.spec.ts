import { Logger } from '@nestjs/common';
import { InterceptorReports } from '../../lib/interceptors/reports.js';
import { EVENT, mutator, run, validator } from '../compliance/chain/stubs.js';

it('a change that JSON has no words for is logged all the same', async () => {
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
  const result = await run([
    mutator('counts', () => ({ modified: true, payload: { amount: 5n } }), { mode: 'audit' }),
  ]);
  new InterceptorReports().publish({ direction: 'receive', result });
  expect(log.mock.calls.flat()).toEqual([
    `[audit] counts, ${EVENT} request: would change [ { op: 'add', path: '/amount', value: 5n } ]`,
  ]);
  log.mockRestore();
});

const saying = (message: string) =>
  run([
    validator('says', () => ({ valid: false, messages: [{ path: 'a\nb', message, severity: 'error' }] })),
  ]);

it('what an interceptor says stays one line of the log, and has an end', async () => {
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
  const reports = new InterceptorReports();
  reports.publish({
    direction: 'receive',
    result: await saying('fine\n[Nest] LOG user admin logged in\r\x1b[31m\x7f\u2028\u202e'),
  });
  reports.publish({ direction: 'receive', result: await saying('x'.repeat(1_000_000)) });
  const [[told], [long]] = log.mock.calls as [string][];
  expect(told).toContain(
    String.raw`a\nb: fine\n[Nest] LOG user admin logged in\r\u001b[31m\u007f\u2028\u202e`,
  );
  expect(long.length).toBeLessThan(4200);
  expect(long).toMatch(/more characters\)$/);
  log.mockRestore();
});

it('what is thrown, by whomever, stays one line, too', () => {
  const said = (['error', 'warn'] as const).map(level =>
    jest.spyOn(Logger.prototype, level).mockImplementation(),
  );
  const reports = new InterceptorReports();
  reports.undiscovered(new Error('a\nb'));
  reports.sinkFailed('s\n', 'a\nb');
  expect(said.map(({ mock }) => mock.calls.flat())).toEqual([
    [String.raw`a\nb`],
    [String.raw`The sink s\n failed: a\nb`],
  ]);
  for (const spy of said) spy.mockRestore();
});

it('names without end are not counted without end', () => {
  jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  const reports = new InterceptorReports();
  for (let index = 0; index < 10_050; index++) reports.sinkFailed(`s${index}`, 'no');
  reports.sinkFailed('s0', 'no');
  const counters = reports.counters();
  expect(Object.keys(counters)).toHaveLength(10_001);
  expect([counters['s0'], counters['s9999'], counters['other']]).toEqual([
    { crash: 2 },
    { crash: 1 },
    { crash: 50 },
  ]);
  jest.restoreAllMocks();
});
