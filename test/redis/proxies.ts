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

const SNIPPETS = join(__dirname, '../../docs/snippets');

export const isInstalled = (program: string, flag = '-v'): boolean =>
  spawnSync(program, [flag], { env }).status === 0;

/** A load balancer with the configuration of the documentation, for these nodes. */
export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** The lines of the three nodes of the documentation become those of these nodes. */
function withNodes(config: string, ports: readonly number[]): string {
  const [, line] = /^( *server .*3001.*\n)/m.exec(config)!;
  const lines = ports.map((port, index) =>
    line.replace('3001', `${port}`).replace('server a ', `server n${index} `),
  );
  return config
    .replace(/^ *server .*300[123].*\n/gm, '')
    .replace(PLACE, place => `${lines.join('')}${place}`);
}

/** Behind which the nodes are listed, in both files. */
const PLACE = / *keepalive 32;\n|$(?![\s\S])/;

export async function startHaproxy(nodes: readonly number[]): Promise<Proxy> {
  const template = readFileSync(join(SNIPPETS, 'haproxy.cfg'), 'utf8');
  const defaults = 'defaults\n  mode http\n  timeout connect 1s\n  timeout client 1m\n  timeout server 1m\n';
  const make = (port: number) =>
    `${defaults}${withNodes(template, nodes).replace(':8080', `127.0.0.1:${port}`)}`;
  return start('haproxy', 'haproxy.cfg', make, folder => ['-f', join(folder, 'haproxy.cfg')]);
}

export async function startNginx(nodes: readonly number[]): Promise<Proxy> {
  const template = readFileSync(join(SNIPPETS, 'nginx-nodes.conf'), 'utf8');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temp = paths.map(name => `${name}_temp_path temp/${name};`).join('\n');
  const make = (port: number) => {
    const http = withNodes(template, nodes).replace('8080', `127.0.0.1:${port}`);
    return `pid nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${temp}\n${http}}\n`;
  };
  return start('nginx', 'nginx.conf', make, folder => [
    '-p',
    folder,
    '-c',
    'nginx.conf',
    '-e',
    'stderr',
    '-g',
    'daemon off;',
  ]);
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
