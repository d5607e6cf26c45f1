import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../sample/support/free-port.js';
import { eventually } from './eventually.js';

/** Debian keeps them where only root's PATH looks. */
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };

const DEPLOY = join(__dirname, '../../deploy');

export const isInstalled = (program: string, flag = '-v'): boolean =>
  spawnSync(program, [flag], { env }).status === 0;

/** A load balancer with the configuration of the documentation, for these nodes. */
export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** The lines of the nodes of a file in deploy/ become those of these nodes. */
function withNodes(config: string, ports: readonly number[]): string {
  const [first] = /^ *server node-1.*\n/m.exec(config)!;
  const lines = ports.map((port, index) =>
    first
      .replace(/node-1:3000/, `127.0.0.1:${port}`)
      .replace(/node-1 \S+/, `node-${index} 127.0.0.1:${port}`),
  );
  return config.replace(/^( *server node-\d.*\n)+/m, lines.join(''));
}

/** The lines of the regions `eu` and `us`, which are two nodes. */
function withRegions(config: string, [eu, us]: readonly number[]): string {
  return config.replace('eu.internal:3000', `127.0.0.1:${eu}`).replace('us.internal:3000', `127.0.0.1:${us}`);
}

const configOf = (file: string, nodes: readonly number[], port: number): string => {
  const config = readFileSync(join(DEPLOY, file), 'utf8').replace(/:?8080/, `127.0.0.1:${port}`);
  return file.includes('routing') ? withRegions(config, nodes) : withNodes(config, nodes);
};

export const startHaproxy = (nodes: readonly number[], file = 'haproxy.cfg'): Promise<Proxy> =>
  start(
    'haproxy',
    file,
    port => configOf(file, nodes, port),
    folder => ['-f', join(folder, file)],
  );

export function startNginx(nodes: readonly number[], file = 'nginx.conf'): Promise<Proxy> {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temp = paths.map(name => `${name}_temp_path temp/${name};`).join('\n');
  const make = (port: number) => {
    // Debian's nginx is older than `resolve`, and the address of a node stays.
    const config = configOf(file, nodes, port).replaceAll(' resolve;', ';');
    return `pid nginx.pid;\n${config.replace('http {\n', `http {\n${temp}\n`)}`;
  };
  const args = (folder: string) => ['-p', folder, '-c', file, '-e', 'stderr', '-g', 'daemon off;'];
  return start('nginx', file, make, args);
}

async function start(
  program: string,
  file: string,
  make: (port: number) => string,
  argsFor: (folder: string) => string[],
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
  // For its workers, which are somebody else where root has started it.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'temp'));
  const port = await freePort();
  writeFileSync(join(folder, file), make(port));
  const child = spawn(program, argsFor(folder), { env, stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => child.kill());
  const exited = once(child, 'exit');
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
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
