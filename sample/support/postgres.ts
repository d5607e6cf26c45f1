import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.js';

const DEBIAN = '/usr/lib/postgresql';

/** The programs of PostgreSQL, which Debian does not put into the path. */
function programs(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  return versions
    .map(version => join(DEBIAN, version, 'bin'))
    .find(folder => existsSync(join(folder, 'initdb')));
}

export const isInstalled = (): boolean => programs() !== undefined;

/** Starts a PostgreSQL on a free port, whose data is gone after it. It refuses to run as root, and then runs as `postgres`. */
export async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const bin = programs()!;
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres']));
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'desk', '-A', 'trust', '--no-sync'], {
    ...user,
    stdio: 'ignore',
  });
  const port = await freePort();
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-k',
    folder,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'fsync=off',
  ];
  const child = spawn(join(bin, 'postgres'), args, { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  process.once('exit', () => child.kill());
  const closed = once(child, 'close');
  await new Promise<void>(resolve => {
    createInterface({ input: child.stderr }).on('line', line => {
      if (line.includes('ready to accept connections')) resolve();
    });
  });
  return {
    url: `postgres://desk@127.0.0.1:${port}/postgres`,
    async stop() {
      child.kill('SIGINT');
      await closed;
      rmSync(folder, { recursive: true });
    },
  };
}
