import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type ElicitResult } from '@modelcontextprotocol/client';
import { freePort } from '../../sample/support/free-port.js';
import { Issuer } from '../auth/issuer.js';
import { deferred } from '../fixtures/deferred.js';
import { eventually } from '../redis/eventually.js';
import { ROOT } from '../tooling/docs-pages.js';
import { Dockerfile } from './dockerfile.js';

describe('deploy/Dockerfile, with the order desk', () => {
  let context: string;
  let image: Dockerfile;
  let issuer: Issuer;
  beforeAll(async () => {
    issuer = await Issuer.start();
    context = mkdtempSync(join(tmpdir(), 'context-'));
    cpSync(join(ROOT, 'sample/60-order-desk'), context, { recursive: true });
    cpSync(join(ROOT, 'deploy'), join(context, 'deploy'), { recursive: true });
    const env = { ...process.env };
    delete env['NODE_OPTIONS'];
    const npm = (cwd: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('npm', args, { cwd, env, encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return stdout.trim();
    };
    if (!existsSync(join(ROOT, 'dist/cjs'))) npm(ROOT, 'run', 'build');
    const packed = npm(ROOT, 'pack', '--ignore-scripts', '--silent', '--pack-destination', context);
    npm(
      context,
      'install',
      '--package-lock-only',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      `./${packed}`,
    );
    image = new Dockerfile(join(context, 'deploy/Dockerfile'), context);
  }, 300_000);
  afterAll(async () => {
    image.remove();
    rmSync(context, { recursive: true });
    await issuer.close();
  });

  it('makes an image without sources and development packages', () => {
    const { folder } = image.result;
    expect(readdirSync(folder).sort()).toEqual(['dist', 'node_modules', 'package.json']);
    expect(existsSync(join(folder, 'node_modules/@nestjs/cli'))).toBe(false);
    expect(existsSync(join(folder, 'node_modules/nestjs-mcp/package.json'))).toBe(true);
  });

  it('starts a process, not as root, that answers its call after SIGTERM and exits with 0', async () => {
    const port = `${await freePort()}`;
    const base = `http://127.0.0.1:${port}`;
    const environment = { PORT: port, ISSUER: issuer.url, RESOURCE: `${base}/mcp` };
    const node = image.start(environment);
    const exited = once(node, 'exit');
    const { uid, env } = image.result;
    expect([uid, env['HOST']]).toEqual([1000, '0.0.0.0']);
    await eventually(() => expect(image.isHealthy(environment)).toBe(true));
    if (process.getuid?.() === 0) expect(statSync(`/proc/${node.pid}`).uid).toBe(1000);
    const statusOf = async (path: string) => (await fetch(base + path)).status;
    expect(await statusOf('/health/ready')).toBe(200);
    expect(await statusOf('/metrics')).toBe(200);

    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'legacy' }, capabilities: { elicitation: { form: {} } } },
    );
    const asked = deferred();
    const answer = deferred<ElicitResult>();
    client.setRequestHandler('elicitation/create', () => {
      asked.resolve();
      return answer.promise;
    });
    const token = await issuer.token({ aud: environment.RESOURCE, scope: 'orders:read orders:write' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(environment.RESOURCE), { requestInit }));
    const order = { sku: 'LAMP-1', quantity: 2, customer: 'Grace' };
    await client.callTool({ name: 'place_order', arguments: order });
    const call = client.callTool({ name: 'report_sales', arguments: {} });
    await asked.promise;
    node.kill('SIGTERM');
    await eventually(async () => expect(await statusOf('/health/ready')).toBe(503));
    answer.resolve({ action: 'accept', content: { format: 'csv' } });
    expect(JSON.stringify((await call).content)).toContain('LAMP-1,');
    expect(await exited).toEqual([0, null]);
    expect(image.isHealthy(environment)).toBe(false);
    await client.close().catch(() => undefined);
  }, 120_000);
});
