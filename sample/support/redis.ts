import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';

export const isInstalled = (): boolean => spawnSync('redis-server', ['--version']).status === 0;

/** Starts a Redis on a free port, which keeps nothing on disk. */
export async function startRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  const closed = once(child, 'close');
  await new Promise<void>(resolve => {
    createInterface({ input: child.stdout }).on('line', line => {
      if (line.includes('Ready to accept connections')) resolve();
    });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await closed;
    },
  };
}
