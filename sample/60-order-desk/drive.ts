import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type CallToolResult,
} from '@modelcontextprotocol/client';
import { Desk } from '../40-auth/desk.js';
import { check, drive, REVISIONS, startProcess, startSample, textOf } from '../support/drive.js';
import { freePort } from '../support/free-port.js';
import * as postgres from '../support/postgres.js';
import * as redis from '../support/redis.js';
import { roundRobin } from '../support/round-robin.js';
import { send, type Task } from '../support/tasks.js';

const ROOT = join(__dirname, '../../..');

type Environment = Readonly<Record<string, string>>;
type Row = Record<string, unknown>;

drive(async () => {
  const folder = install();
  const identityProvider = await startSample('40-auth/identity-provider');
  const issuer = { ISSUER: identityProvider.url };

  console.log('one node, with SQLite');
  const node = await start(folder, issuer);
  await byRest(node, identityProvider.url);
  for (const revision of REVISIONS) await byMcp(node, revision);
  await operated(node);
  await node.stop();

  if (redis.isInstalled() && postgres.isInstalled()) await twoNodes(folder, issuer);
  else console.log('  skipped: two nodes (on Debian: apt-get install postgresql redis-server)');
  await identityProvider.stop();
  rmSync(folder, { recursive: true });
}, 300_000);

/** Installs the application with a packed nestjs-mcp, as a stranger's is, and builds it. */
function install(): string {
  const folder = mkdtempSync(join(tmpdir(), 'order-desk-'));
  cpSync(join(ROOT, 'sample/60-order-desk'), folder, { recursive: true });
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  const packed = npm(ROOT, 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder);
  npm(folder, 'install', '--silent', '--no-audit', '--no-fund', `./${packed}`);
  npm(folder, 'run', 'build');
  return folder;
}

interface DeskNode {
  readonly base: string;
  readonly url: string;
  /** The audience of tokens. */
  readonly resource: string;
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

async function start(folder: string, environment: Environment): Promise<DeskNode> {
  const PORT = String(await freePort());
  const base = `http://127.0.0.1:${PORT}`;
  const RESOURCE = environment['RESOURCE'] ?? `${base}/mcp`;
  const running = startProcess(join(folder, 'dist/main'), { ...environment, PORT, RESOURCE });
  await running.printed(/Listening at/);
  return { ...running, base, url: `${base}/mcp`, resource: RESOURCE };
}

/** A token of a job, which needs no browser. */
async function tokenFor({ resource }: DeskNode, issuer: string, scope: string): Promise<string> {
  const secret = Buffer.from('night-job:a secret that is not for production').toString('base64');
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${secret}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Asks a route. @returns the status, and the body */
async function ask(node: DeskNode, token: string, path: string, body?: Row) {
  const response = await fetch(`${node.base}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Row };
}

async function byRest(node: DeskNode, issuer: string): Promise<void> {
  const reader = await tokenFor(node, issuer, 'orders:read');
  const clerk = await tokenFor(node, issuer, 'orders:read orders:write');
  const order = { sku: 'LAMP-1', quantity: 2, customer: 'Grace' };
  check('REST without a token', (await ask(node, 'none', '/products')).status, 401);
  check('REST without the scope', (await ask(node, reader, '/orders', order)).status, 403);
  const placed = await ask(node, clerk, '/orders', order);
  check('REST places an order', [placed.status, placed.body['clerk']], [201, 'night-job']);
  const { body } = await ask(node, reader, '/products/LAMP-1');
  check('which takes the goods out of the stock', body['stock'], 38);
  check(
    'more than there is',
    (await ask(node, clerk, '/orders', { ...order, sku: 'LAMP-2', quantity: 8 })).body,
    {
      statusCode: 409,
      error: 'Conflict',
      message: 'Only 7 of Floor lamp are left',
    },
  );
  const cancelled = await ask(node, clerk, '/orders/1/cancel', { reason: 'Ordered twice' });
  check('REST cancels it', [cancelled.status, cancelled.body['state']], [200, 'cancelled']);
}

async function byMcp(node: DeskNode, revision: (typeof REVISIONS)[number]): Promise<void> {
  console.log(revision);
  const desk = new Desk();
  const client = await logIn(node.url, revision, desk);
  const call = (name: string, args: Row = {}) => client.callTool({ name, arguments: args });
  const json = (result: CallToolResult) => JSON.parse(textOf(result)) as Row;

  const { tools } = await client.listTools();
  check('the tools', tools.map(({ name }) => name).sort(), [
    'cancel_order',
    'list_orders',
    'place_order',
    'read_order',
    'read_product',
    'report_sales',
    'search_products',
    'ship_order',
    'show_board',
  ]);
  const placed = json(await call('place_order', { sku: 'LAMP-2', quantity: 1, customer: 'Grace' }));
  check('an order by MCP', [placed['clerk'], placed['state']], ['ada', 'open']);
  const token = desk.tokens()!.access_token;
  const read = await ask(node, token, `/orders/${String(placed['id'])}`);
  check('the same login reads it by REST', read.body['customer'], 'Grace');
  const large = await call('place_order', { sku: 'LAMP-1', quantity: 11, customer: 'Grace' }).then(
    textOf,
    (error: { data?: unknown }) => JSON.stringify(error.data),
  );
  check('the policy refuses a large one', large, /A person has to place orders of more than 10/);

  check('the board', textOf(await call('show_board')), /1 × Floor lamp for Grace/);
  const { structuredContent } = await call('ship_order', { id: placed['id'] });
  check('a button of its view ships the order', structuredContent, { orders: [] });
  check('the report asks for a format', textOf(await call('report_sales')), /^LAMP-2,\d+\.00$/);
  await client.close();
}

/** A client whose user logs in with a browser, and asks for reports as CSV. */
async function logIn(url: string, revision: (typeof REVISIONS)[number], authProvider: Desk): Promise<Client> {
  const connecting = () => {
    const mode = revision === '2026-07-28' ? ({ pin: revision } as const) : 'legacy';
    const client = new Client(
      { name: 'desk', version: '1.0.0' },
      { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
    );
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { format: 'csv' } }));
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
    return { client, transport, connected: client.connect(transport) };
  };
  const first = connecting();
  const refusal = await first.connected
    .then(
      () => first.client.callTool({ name: 'cancel_order', arguments: {} }),
      (error: unknown) => error,
    )
    .catch((error: unknown) => error);
  check('the client has to log in', refusal instanceof UnauthorizedError, true);
  await first.transport.finishAuth(await authProvider.callback());
  await first.client.close();
  const second = connecting();
  await second.connected;
  return second.client;
}

/** What operators and developers look at. */
async function operated(node: DeskNode): Promise<void> {
  const get = async (path: string) => await fetch(`${node.base}${path}`);
  check('probes', [(await get('/health/live')).status, (await get('/health/ready')).status], [200, 200]);
  check('metrics', (await (await get('/metrics')).text()).includes('mcp_server_operation_duration'), true);
  const { paths } = (await (await get('/docs-json')).json()) as { paths: Row };
  check('Swagger', Object.keys(paths), [
    '/products',
    '/products/{sku}',
    '/orders',
    '/orders/{id}',
    '/orders/{id}/cancel',
  ]);
  const page = inBrowser(`${node.base}/mcp-explorer`);
  if (page === undefined) console.log('  skipped: the explorer (on Debian: apt-get install chromium)');
  else check('the explorer, in Chromium', page.includes('place_order'), true);
  check(
    'the audit trail',
    node.lines.some(line => line.includes('ada calls place_order')),
    true,
  );
}

/** The page as Chromium shows it, or undefined without Chromium. */
function inBrowser(url: string): string | undefined {
  if (spawnSync('chromium', ['--version']).status !== 0) return undefined;
  const args = ['--headless', '--no-sandbox', '--virtual-time-budget=10000', '--dump-dom', url];
  return execFileSync('chromium', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Two nodes behind a proxy share PostgreSQL and Redis. */
async function twoNodes(folder: string, issuer: Environment): Promise<void> {
  console.log('two nodes, with PostgreSQL and Redis');
  const [database, cache] = [await postgres.startPostgres(), await redis.startRedis()];
  const urls: string[] = [];
  const proxy = await roundRobin(urls);
  const shared = {
    ...issuer,
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    REDIS_URL: cache.url,
    MCP_SECRET: randomBytes(32).toString('hex'),
    RESOURCE: proxy.url,
  };
  // The first one creates the tables.
  const nodes = [await start(folder, shared), await start(folder, shared)];
  urls.push(...nodes.map(({ url }) => url));
  for (const revision of REVISIONS) {
    const desk = new Desk();
    const client = await logIn(proxy.url, revision, desk);
    const placed = await client.callTool({
      name: 'place_order',
      arguments: { sku: 'CHAIR-1', quantity: 1, customer: 'Lin' },
    });
    const { id } = JSON.parse(textOf(placed)) as { id: number };
    for (const node of nodes) {
      const { body } = await ask(node, desk.tokens()!.access_token, `/orders/${id}`);
      check('each node knows the order', body['customer'], 'Lin');
    }
    check('a question finds its call', textOf(await client.callTool({ name: 'report_sales' })), /^CHAIR-1,/);
    await client.close();
  }
  const token = await tokenFor(nodes[0], issuer['ISSUER'], 'orders:read');
  check('a task of one node, answered at the other', await reportAsTask(nodes, token), /^CHAIR-1: /);
  await Promise.all(nodes.map(node => node.stop()));
  proxy.close();
  await cache.stop();
  await database.stop();
}

/** The first node begins the report, the second one asks for its format and gives the result. */
async function reportAsTask([first, second]: readonly DeskNode[], token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const begun = await send(first.url, 'tools/call', { name: 'report_sales', arguments: {} }, headers);
  const { taskId } = begun;
  const once = async (status: string): Promise<Task> => {
    for (;;) {
      const task = await send(second.url, 'tasks/get', { taskId }, headers);
      if (task.status === status) return task;
      await pause(begun['pollIntervalMs'] as number);
    }
  };
  await once('input_required');
  const inputResponses = { format: { action: 'accept', content: { format: 'text' } } };
  await send(second.url, 'tasks/update', { taskId, inputResponses }, headers);
  const { result } = await once('completed');
  return textOf(result as CallToolResult);
}
