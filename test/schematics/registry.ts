import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './application.js';

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/** Runs a program without what Jest needs of Node. @returns its stdout @throws Error with its output */
export async function exec(cwd: string, program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env };
  delete env['NODE_OPTIONS'];
  return (await promisify(execFile)(program, args, { cwd, env })).stdout.trim();
}

/** A registry on the loopback interface that has `nestjs-mcp`, packed as it is here. It redirects to npm's registry for others. */
export async function startRegistry(): Promise<Registry> {
  if (!existsSync(join(ROOT, 'dist/schematics'))) await exec(ROOT, 'npm', 'run', 'build');
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  const file = await exec(ROOT, 'npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder);
  const tarball = readFileSync(join(folder, file));
  rmSync(folder, { recursive: true });
  const upstream = await exec(ROOT, 'npm', 'config', 'get', 'registry');
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const { version } = manifest;
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;

  const server = createServer(({ url: path = '/' }, response) => {
    const dist = { tarball: `${url}/${file}`, integrity };
    const versions = { [version]: { ...manifest, dist } };
    if (path === '/nestjs-mcp')
      response.end(JSON.stringify({ name: 'nestjs-mcp', 'dist-tags': { latest: version }, versions }));
    else if (path === `/${file}`) response.end(tarball);
    else response.writeHead(307, { location: new URL(path.slice(1), upstream).href }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
