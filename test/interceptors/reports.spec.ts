import { Logger } from '@nestjs/common';
import { InterceptorReports } from '../../lib/interceptors/reports.js';
import { EVENT, mutator, run } from '../compliance/chain/stubs.js';

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
