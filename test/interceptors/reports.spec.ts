import { Logger } from '@nestjs/common';
import { InterceptorReports } from '../../lib/interceptors/reports.js';
import { respondWith, type SinkReport } from '../../lib/index.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { EVENT, mutator, run, sink, validator } from './chain/stubs.js';

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

const MESSAGE = { event: EVENT, phase: 'request' } as const;
const sinkCalled = (name: string) => ({ host: 'local', name });
const failure = (error: string) => ({ outcome: 'crash', durationMs: 1, error }) as const;

it('what is thrown, by whomever, stays one line, too', () => {
  const said = (['error', 'warn'] as const).map(level =>
    jest.spyOn(Logger.prototype, level).mockImplementation(),
  );
  const reports = new InterceptorReports();
  reports.undiscovered(new Error('a\nb'));
  reports.sinkBegan('', sinkCalled('s\n'), MESSAGE)(failure('a\nb'));
  expect(said.map(({ mock }) => mock.calls.flat())).toEqual([
    [String.raw`a\nb`],
    [String.raw`The sink s\n failed: a\nb`],
  ]);
  for (const spy of said) spy.mockRestore();
});

it('names without end are not counted without end', () => {
  jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  const reports = new InterceptorReports();
  for (let index = 0; index < 10_050; index++)
    reports.sinkBegan('', sinkCalled(`s${index}`), MESSAGE)(failure('no'));
  reports.sinkBegan('', sinkCalled('s0'), MESSAGE)(failure('no'));
  const counters = reports.counters();
  expect(Object.keys(counters)).toHaveLength(10_001);
  expect([counters['s0'], counters['s9999'], counters['other']]).toEqual([
    { crash: 2 },
    { crash: 1 },
    { crash: 50 },
  ]);
  jest.restoreAllMocks();
});

describe('the report of a sink', () => {
  const CARD = '4111 1111 1111 1111';
  const adding = (key: string) => ({ modified: true, payload: { [key]: CARD }, info: { cards: 1 } });
  const objection = {
    valid: false,
    messages: [{ message: 'a card', path: 'a', severity: 'error' }],
    suggestions: [{ path: 'a', value: CARD }],
  };

  it.each([
    [
      'that changed the message, and failed open',
      [
        mutator('1', () => adding('a')),
        mutator('2', () => adding('b'), { mode: 'audit' }),
        validator('3', () => Promise.reject(new Error(`${CARD} is no JSON`)), { failOpen: true }),
      ],
      ['3 crash', '1 mutated', '2 mutated'],
      { status: 'success' },
    ],
    [
      'that answered the message',
      [mutator('1', () => respondWith({ content: CARD }))],
      ['1 responded'],
      { status: 'success', response: { interceptor: '1' } },
    ],
    [
      'that refused the message',
      [validator('1', () => objection)],
      ['1 deny'],
      {
        status: 'validation_failed',
        results: [{ messages: objection.messages }],
        abortedAt: { interceptor: '1', host: 'local', type: 'validation' },
      },
    ],
    [
      'that crashed',
      [mutator('1', () => Promise.reject(new Error(CARD)))],
      ['1 crash'],
      { status: 'mutation_failed', abortedAt: { interceptor: '1', host: 'local', type: 'mutation' } },
    ],
  ])('names the interceptors %s, without payloads', async (_, entries, outcomes, rest) => {
    const reports: SinkReport[] = [];
    await run([...entries, sink('journal', ({ report }) => void reports.push(report!))], {
      payload: { text: CARD },
    });
    expect(reports).toMatchObject([rest]);
    expect(reports[0].results.map(({ interceptor, outcome }) => `${interceptor} ${outcome}`)).toEqual(
      outcomes,
    );
    expect(JSON.stringify(reports)).not.toContain(CARD);
  });

  it('holds the "info" of an interceptor', async () => {
    const infos: unknown[] = [];
    const journal = sink('journal', ({ report }) => infos.push(report?.results[0].info));
    await run([mutator('1', () => adding('a')), journal]);
    expect(infos).toEqual([{ cards: 1 }]);
  });
});

it('failures name their server, and one server does not silence another', () => {
  const log = new LogSpy();
  Logger.overrideLogger(log);
  const reports = new InterceptorReports();
  for (const server of ['shop', 'shop', 'bank'])
    reports.sinkBegan(server, sinkCalled('s'), MESSAGE)(failure('no'));
  reports.undiscovered(new Error('down'), EVENT, 'shop');
  Logger.overrideLogger(false);
  expect(log.warnings).toEqual([
    expect.stringContaining('McpInterceptors(shop)'),
    expect.stringContaining('McpInterceptors(bank)'),
  ]);
  expect(log.errors).toEqual([expect.stringContaining('McpInterceptors(shop)')]);
});
