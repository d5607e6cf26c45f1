import type { Link } from '../../lib/gateway/link.js';
import { LinkPool } from '../../lib/gateway/pool.js';

it('one caller does not take all connections of a pool', async () => {
  const link = { isOf: () => false, close: async () => {} } as unknown as Link;
  const pool: LinkPool = new LinkPool(() => pool.size < 4, { maxConnections: 4, idleTimeoutMs: 1000 });
  const lease = (caller: string) =>
    pool.lease({ caller, key: `${caller} ${pool.size}` }, undefined, () => link);
  for (let count = 0; count < 3; count++) lease('greedy');
  expect(() => lease('greedy')).toThrow('too many connections');
  lease('other');
  expect(() => lease('third')).toThrow('too many connections');
  await pool.close();
});
