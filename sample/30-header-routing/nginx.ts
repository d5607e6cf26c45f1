import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../support/free-port.js';

/** Debian keeps it where only root's PATH looks. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };

export const isInstalled = (): boolean => spawnSync('nginx', ['-v'], { env }).status === 0;

export interface Nginx {
  /** The endpoint through it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts nginx with the configuration of deploy/, in a folder of its own, in front of two applications. */
export async function startNginx(eu: string, us: string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'header-routing-'));
  // For its workers, which are somebody else where root has started it.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'temp'));
  const port = await freePort();
  const template = readFileSync(join(__dirname, '../../../deploy/nginx-header-routing.conf'), 'utf8');
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path temp/${name};`,
  );
  const config = template
    .replace('http {', ['pid nginx.pid;', 'error_log stderr notice;', 'http {', ...temp].join('\n'))
    .replace('8080', `127.0.0.1:${port}`)
    .replace('eu.internal:3000', new URL(eu).host)
    .replace('us.internal:3000', new URL(us).host);
  writeFileSync(join(folder, 'nginx.conf'), config);

  const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr', '-g', 'daemon off;'];
  const child = spawn('nginx', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  process.once('exit', () => child.kill());
  const exited = once(child, 'exit');
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', line => {
      lines.push(line);
      // It listens before it starts its workers.
      if (line.includes('start worker process')) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`nginx ended after these lines:\n${lines.join('\n')}`)));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}
