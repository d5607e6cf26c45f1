import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
  Injectable,
  Module,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Args, Ctx, McpContext, Tool, Validator } from 'nestjs-mcp';
import { McpExplorerModule } from 'nestjs-mcp/explorer';
import { startApp } from '../fixtures/matrix.js';
import { CSRF, Shop, startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';
const CANARY = 'canary-8d21e7';
const VIEW = { server: 'test', caller: { kind: 'anonymous' } };

@Injectable()
class OperatorGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<IncomingMessage>().headers['x-operator'] === 'yes';
  }
}

@Injectable()
class Secrets {
  @Tool({ description: '<script>alert(1)</script>', inputSchema: { type: 'object' } })
  echo(args: unknown) {
    return JSON.stringify(args);
  }

  @Tool()
  named(@Args('text') value: string) {
    return value;
  }

  @Validator({ name: 'configured', events: ['*'], configSchema: { type: 'object' } })
  configured() {
    return true;
  }
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Asks over a connection that seems to come from an address. */
async function ask(
  app: INestApplication,
  remoteAddress: string,
  path: string,
  { method, headers, body }: Asked,
) {
  const [near, far] = duplexPair();
  Object.assign(far, { remoteAddress });
  const sending = request({
    path,
    method,
    headers: { host: 'localhost', connection: 'close', ...headers },
    createConnection: () => near,
  });
  (app.getHttpServer() as Server).emit('connection', far);
  sending.end(body);
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}

const from = async (app: INestApplication, address: string, path: string, headers = {}) =>
  (await ask(app, address, path, { headers })).status;

describe('without guards', () => {
  let app: ExploredApp;

  beforeAll(async () => {
    const configure = (one: INestApplication) => one.enableCors({ origin: true, credentials: true });
    app = await startExplored([Shop], { configure });
    await app.url();
  });
  afterAll(() => app.close());

  it.each([
    [{ host: 'evil.example' }],
    [{ 'x-forwarded-for': '10.0.0.1' }],
    [{ forwarded: 'for=10.0.0.1' }],
    [{ via: '1.1 proxy' }],
    [{ 'x-original-forwarded-for': '10.0.0.1' }],
    [{ 'x-client-ip': '10.0.0.1' }],
    [{ 'true-client-ip': '10.0.0.1' }],
    [{ 'cf-connecting-ip': '10.0.0.1' }],
  ])('refuses the page and the API with %j', async headers => {
    expect((await app.get('/mcp-explorer/index.html', headers)).status).toBe(403);
    expect((await app.get(`${API}/live`, headers)).status).toBe(403);
  });

  it('refuses other addresses than those of this machine', async () => {
    const path = `${API}/live`;
    const statuses = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::1'].map(
      address => from(app.app, address, path),
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 403, 403, 403]);
  });

  it.each([
    [{ origin: 'http://evil.example' }],
    [{ origin: 'http://localhost:1' }],
    [{ origin: 'null' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
  ])('refuses requests of other origins, with %j', async headers => {
    expect((await app.get(`${API}/catalogue`, headers)).status).toBe(403);
    expect((await app.post(`${API}/callers`, VIEW, headers)).status).toBe(403);
  });

  it('answers its own page', async () => {
    const { host, origin } = new URL(await app.url());
    const headers = { host, origin, 'sec-fetch-site': 'same-origin' };
    expect((await app.post(`${API}/callers`, VIEW, headers)).status).toBe(200);
  });

  it('refuses a POST that a form of another page can send', async () => {
    const asked = [
      app.post(`${API}/callers`, VIEW, { 'content-type': 'text/plain' }),
      app.post(`${API}/callers`, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      app.post(`${API}/callers`, VIEW, { 'sec-fetch-site': 'none' }),
    ];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([415, 415, 403]);
    const { 'mcp-explorer': _, ...bare } = CSRF;
    const sending = request(await app.url(`${API}/callers`), { method: 'POST', headers: bare, agent: false });
    sending.end(JSON.stringify(VIEW));
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    expect([answer.statusCode, await text(answer)]).toEqual([
      403,
      expect.stringContaining('mcp-explorer: 1'),
    ]);
  });

  it.each([
    '/mcp-explorer',
    '/mcp-explorer/index.html',
    `${API}/live`,
    `${API}/nothing`,
    '/mcp-explorer/none',
  ])('%s cannot be framed, sniffed or given scripts', async path => {
    const { headers } = await app.get(path);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': expect.stringMatching(/^no-(store|cache)$/),
    });
  });

  it('answers only what it knows', async () => {
    expect((await app.get(`${API}/callers`)).status).toBe(405);
    expect((await app.post(`${API}/live`, {})).status).toBe(405);
    expect((await app.get(`${API}/constructor`)).status).toBe(404);
    const bodies = [
      {},
      { server: 'none' },
      { server: 'test' },
      { server: 'test', caller: { kind: 'token', token: 'a\r\nb: c' } },
    ];
    const answers = await Promise.all(bodies.map(body => app.post(`${API}/callers`, body)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 400, 400]);
  });

  it('calls nothing for a synthetic caller, and no tool that may change something without a confirmation', async () => {
    const call = { ...VIEW, method: 'tools/call', params: { name: 'order' } };
    expect((await app.post(`${API}/call`, call)).status).toBe(409);
    expect((await app.post(`${API}/call`, { ...call, confirmed: 'yes' })).status).toBe(409);
    const synthetic = {
      ...call,
      caller: { kind: 'synthetic', scopes: [], roles: ['clerk'] },
      confirmed: true,
    };
    expect((await app.post(`${API}/call`, synthetic)).status).toBe(403);
    const confirmed = await app.post(`${API}/call`, { ...call, confirmed: true });
    expect(confirmed.json).toMatchObject({ outcome: 'error', error: { code: -32602 } });
    expect((await app.post(`${API}/call`, { ...VIEW, method: 'tools/list', params: {} })).status).toBe(400);
  });
});

@Injectable()
class Addresses {
  @Tool({ annotations: { readOnlyHint: true } })
  address(@Ctx() ctx: McpContext) {
    const { ip, socket, raw } = ctx.request as IncomingMessage & { ip?: string; raw?: IncomingMessage };
    return `${ip} ${(raw?.socket ?? socket).remoteAddress}`;
  }
}

const trustingExpress = () => {
  const adapter = new ExpressAdapter();
  adapter.set('trust proxy', 1);
  return adapter;
};

describe('with guards', () => {
  it.each([
    ['Express', () => new ExpressAdapter(), '10.0.0.1'],
    ['Express that trusts the proxy', trustingExpress, '203.0.113.9'],
    ['Fastify that trusts the proxy', () => new FastifyAdapter({ trustProxy: '10.0.0.1' }), '203.0.113.9'],
  ])('a call has the address that %s knows of its page', async (_, adapter, address) => {
    const options = { explorer: { guards: [OperatorGuard] }, adapter: adapter() };
    const app = await startExplored([Addresses], options);
    await app.url();
    const body = JSON.stringify({ ...VIEW, method: 'tools/call', params: { name: 'address' } });
    const forwarded = { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' };
    const headers = { ...CSRF, ...forwarded, 'x-operator': 'yes', 'content-length': String(body.length) };
    const answer = await ask(app.app, '10.0.0.1', `${API}/call`, { method: 'POST', headers, body });
    const content = [{ text: `${address} ${address}` }];
    expect(JSON.parse(answer.body)).toMatchObject({ result: { value: { content } } });
    await app.close();
  });

  it('they decide, for any address', async () => {
    const app = await startExplored([Shop], { explorer: { path: 'ops/mcp', guards: [OperatorGuard] } });
    await app.url();
    const path = '/ops/mcp/api/live';
    const operator = { 'x-operator': 'yes', host: 'ops.example.com', 'x-forwarded-for': '10.0.0.1' };
    expect((await app.get('/ops/mcp/index.html')).status).toBe(403);
    expect(await from(app.app, '10.0.0.1', path)).toBe(403);
    expect(await from(app.app, '10.0.0.1', path, operator)).toBe(200);
    expect(await from(app.app, '10.0.0.1', path, { ...operator, origin: 'https://evil.example' })).toBe(403);
    await app.close();
  });
});

@Injectable()
class Operators {
  isOperator(name: unknown) {
    return name === 'yes';
  }
}

@Module({ providers: [Operators], exports: [Operators] })
class OperatorsModule {}

@Injectable()
class InjectedGuard implements CanActivate {
  constructor(private readonly operators: Operators) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<IncomingMessage>();
    return this.operators.isOperator(headers['x-operator']);
  }
}

it('guards inject what the imported modules export', async () => {
  const explorer = { guards: [InjectedGuard], imports: [OperatorsModule] };
  const app = await startExplored([Shop], { explorer });
  expect((await app.get(`${API}/live`)).status).toBe(403);
  expect((await app.get(`${API}/live`, { 'x-operator': 'yes' })).status).toBe(200);
  await app.close();
});

describe('in production', () => {
  const { NODE_ENV } = process.env;
  beforeEach(() => (process.env['NODE_ENV'] = 'production'));
  afterEach(() => (process.env['NODE_ENV'] = NODE_ENV));

  it('the application does not start without guards', async () => {
    await expect(startExplored([Shop])).rejects.toThrow(
      'McpExplorerModule: NODE_ENV is "production" and the explorer has no guards; pass "guards" that admit only operators, or do not import it',
    );
  });

  it('the application starts with guards', async () => {
    const app = await startExplored([Shop], { explorer: { guards: [OperatorGuard] } });
    expect((await app.get(`${API}/live`, { 'x-operator': 'yes' })).status).toBe(200);
    await app.close();
  });
});

it.each([
  [{ guard: [] }, 'unknown option "guard"; known are path, guards, imports'],
  [{ path: '/' }, '"path" must be a path of plain segments, such as "/mcp-explorer", not "/"'],
  [{ guards: ['no'] }, '"guards[0]" must be a guard, or a class of guards'],
])('%j stops the start', async (options, problem) => {
  const module = { imports: [McpExplorerModule.forRoot(options as object)] };
  await expect(startApp([], { module })).rejects.toThrow(`McpExplorerModule: ${problem}`);
});

it('no secret of a client or of the configuration is in an answer', async () => {
  const config = { configured: { key: CANARY } };
  const app = await startExplored([Secrets], { mcp: { interceptors: { config } } });
  const headers = { authorization: `Bearer ${CANARY}`, 'x-key': CANARY };
  for (const era of ['modern', 'legacy'] as const) {
    const client = await app.client({ era, headers });
    await client.callTool({ name: 'echo', arguments: { text: CANARY } });
    await client.callTool({ name: 'named', arguments: { text: { CANARY } } }).catch(() => undefined);
    await client.callTool({ name: CANARY }).catch(() => undefined);
    await client.readResource({ uri: `secret://${CANARY}` }).catch(() => undefined);
  }
  const answers = await Promise.all(
    ['catalogue', 'chain', 'live', 'findings'].map(name => app.get(`${API}/${name}`)),
  );
  const caller = { kind: 'token', token: CANARY };
  answers.push(await app.post(`${API}/callers`, { server: 'test', caller }));
  const params = { name: 'echo', arguments: {} };
  answers.push(
    await app.post(`${API}/call`, { server: 'test', caller, method: 'tools/call', params, confirmed: true }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(answers[2].json.total).toBeGreaterThan(8);
  expect(answers.map(({ text: body }) => body).join('\n')).not.toContain(CANARY);
  expect(answers[0].headers['content-type']).toBe('application/json; charset=utf-8');
  await app.close();
});
