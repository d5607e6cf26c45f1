import type { BackendConnection } from '../../lib/gateway/backend-connection.js';
import { ConnectionPool } from '../../lib/gateway/connection-manager.js';

it('one caller does not take all connections of a pool', async () => {
  const connection = { isOf: () => false, close: async () => {} } as unknown as BackendConnection;
  const pool: ConnectionPool = new ConnectionPool(() => pool.size < 4, {
    maxConnections: 4,
    idleTimeoutMs: 1000,
  });
  const lease = (caller: string) =>
    pool.lease({ caller, key: `${caller} ${pool.size}` }, undefined, () => connection);
  for (let count = 0; count < 3; count++) lease('greedy');
  expect(() => lease('greedy')).toThrow('too many connections');
  lease('other');
  expect(() => lease('third')).toThrow('too many connections');
  await pool.close();
});
