import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { freePort } from '../../sample/support/free-port.js';
import { eventually } from '../redis/eventually.js';
import { ROOT } from '../tooling/docs-pages.js';
import { Dockerfile } from './dockerfile.js';

const isRoot = process.getuid?.() === 0;

describe('deploy/Dockerfile', () => {
  let context: string;
  let image: Dockerfile;
  beforeAll(() => {
    context = mkdtempSync(join(tmpdir(), 'context-'));
    cpSync(join(__dirname, 'application'), context, { recursive: true });
    cpSync(join(ROOT, 'deploy'), join(context, 'deploy'), { recursive: true });
    const env = { ...process.env };
    delete env['NODE_OPTIONS'];
    const npm = (cwd: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('npm', args, { cwd, env, encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return stdout.trim();
    };
    if (!existsSync(join(ROOT, 'dist/cjs'))) npm(ROOT, 'run', 'build');
    const packed = npm(ROOT, 'pack', '--ignore-scripts', '--pack-destination', context);
    renameSync(join(context, packed), join(context, 'nestjs-mcp.tgz'));
    npm(context, 'install', '--package-lock-only', '--no-audit', '--no-fund');
    image = new Dockerfile(join(context, 'deploy/Dockerfile'), context);
  }, 300_000);
  afterAll(() => {
    image.remove();
    rmSync(context, { recursive: true });
  });

  it('makes an image without sources and compilers', () => {
    const { folder } = image.result;
    expect(readdirSync(folder).sort()).toEqual(['dist', 'node_modules', 'package.json']);
    expect(existsSync(join(folder, 'node_modules/typescript'))).toBe(false);
    expect(existsSync(join(folder, 'node_modules/nestjs-mcp/package.json'))).toBe(true);
  });

  it('starts a healthy process, not as root, that answers its call after SIGTERM and exits with 0', async () => {
    const port = `${await freePort()}`;
    const node = image.start({ PORT: port });
    const exited = once(node, 'exit');
    expect(image.result.env['HOST']).toBe('0.0.0.0');
    await eventually(() => expect(image.isHealthy({ PORT: port })).toBe(true));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));

    let begin!: () => void;
    const begun = new Promise<void>(resolve => (begin = resolve));
    const call = client.callTool({ name: 'whoami', arguments: {} }, { onprogress: () => begin() });
    await begun;
    node.kill('SIGTERM');
    const { content } = await call;
    expect(content).toEqual([{ type: 'text', text: String(isRoot ? 1000 : process.getuid!()) }]);
    expect(await exited).toEqual([0, null]);
    expect(image.isHealthy({ PORT: port })).toBe(false);
    await client.close().catch(() => undefined);
  });
});
