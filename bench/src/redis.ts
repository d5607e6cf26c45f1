import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { createClient } from 'redis';
import { LOAD_CORE, onCore } from './pinned.js';

/** Whether there is a `redis-server`. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** Starts a Redis for this process and the servers that it starts, beside the load: a server does not share its core. */
export async function startRedis(): Promise<void> {
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()];
  const redis = spawn(...onCore(LOAD_CORE, ['redis-server', ...args]), { stdio: 'ignore' });
  redis.unref();
  process.once('exit', () => redis.kill());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const url = `redis://127.0.0.1:${port}`;
  process.env['REDIS_URL'] = url;
  // It tries again until Redis listens.
  const client = createClient({ url }).on('error', () => undefined);
  await client.connect();
  client.destroy();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
