import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { INestApplication, Type } from '@nestjs/common';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { jwtVerifier, McpAuthModule, type McpAuthOptions } from 'nestjs-mcp/auth';
import { McpClientModule, McpClients } from 'nestjs-mcp/client';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { Desk } from '../../sample/40-auth/desk.js';
import { JobsOnly, OrderTools } from '../../sample/40-auth/orders.js';
import { freePort } from '../../sample/support/free-port.js';
import { PLATFORMS, startApp, textOf, type Platform, type TestApp } from '../fixtures/matrix.js';

const ROOT = join(__dirname, '../..');

let identityProvider: ChildProcess;
let issuer: string;
const closing: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  const hook = join(ROOT, 'test/fixtures/ts-hook.cjs');
  const main = join(ROOT, 'sample/40-auth/identity-provider/main.ts');
  identityProvider = spawn(process.execPath, ['-r', hook, main], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: identityProvider.stdout! })) {
    issuer = /^Identity provider: (\S+)/.exec(line)?.[1] ?? issuer;
    if (issuer) break;
  }
});

afterEach(async () => {
  for (const one of closing.splice(0).reverse()) await one.close();
});

afterAll(async () => {
  identityProvider.kill();
  await once(identityProvider, 'close');
});

/** Hands on what comes under `/shop`, without it; and nothing else. */
async function startProxy(): Promise<{ server: Server; url: string; to: (port: number) => void }> {
  let port = 0;
  const server = createServer((incoming, answer) => {
    if (!incoming.url!.startsWith('/shop/')) return void answer.writeHead(404).end();
    const { method, headers } = incoming;
    const path = incoming.url!.slice('/shop'.length);
    const onward = forward({ host: '127.0.0.1', port, method, path, headers, agent: false }, response => {
      answer.writeHead(response.statusCode!, response.headers);
      response.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push({ close: async () => (server.closeAllConnections(), server.close()) });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, to: to => (port = to) };
}

interface ShopOptions extends Partial<McpAuthOptions> {
  readonly handlers?: Type[];
  readonly configure?: (app: INestApplication) => void;
  readonly path?: string;
}

async function startShop(
  platform: Platform,
  { handlers = [OrderTools, JobsOnly], configure, path = '/mcp', ...more }: ShopOptions = {},
): Promise<TestApp> {
  const port = await freePort();
  const app = await startApp(handlers, {
    platform,
    forceCloseConnections: true,
    configure,
    module: {
      imports: [
        McpAuthModule.forRootAsync({
          useFactory: () => ({
            resource: `http://127.0.0.1:${port}${path}`,
            authorizationServers: [issuer],
            scopesSupported: ['orders:read', 'orders:write'],
            impliedScopes: { 'orders:write': ['orders:read'] },
            verifier: jwtVerifier({ issuer, jwksUri: `${issuer}/jwks` }),
            ...more,
          }),
        }),
      ],
    },
  });
  await app.app.listen(port, '127.0.0.1');
  closing.push(app);
  return app;
}

/** Discovers, lists, calls, logs in, lists, calls, steps up, and calls. */
async function useShop(url: string, era: 'modern' | 'legacy'): Promise<string[]> {
  const desk = new Desk();
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'desk', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: desk });
  await client.connect(transport);
  closing.push(client);
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args }).then(textOf, (error: unknown) => {
      if (error instanceof UnauthorizedError) return 'log in';
      throw error;
    });
  const listed = async () => (await client.listTools()).tools.map(({ name }) => name).join(' ');
  const said = [await listed(), await call('openingHours'), await call('listOrders')];
  await transport.finishAuth(await desk.callback());
  said.push(await call('listOrders'), String(desk.tokens()?.scope));
  said.push(await listed(), await call('placeOrder', { what: 'a hat' }));
  await transport.finishAuth(await desk.callback());
  said.push(await call('placeOrder', { what: 'a hat' }), String(desk.tokens()?.scope));
  return said;
}

const SAID = [
  'openingHours listOrders placeOrder',
  'from 9 to 5',
  'log in',
  'ada sees 1 umbrella',
  'orders:read',
  'openingHours listOrders placeOrder',
  'log in',
  'Ordered a hat',
  'orders:read orders:write',
];

const EXAMPLE_SAYS: Readonly<Record<string, string>> = {
  'ada sees 1 umbrella': '1 umbrella',
  'Ordered a hat': 'Ordered for ada',
};

describe.each(PLATFORMS)('the official client, on %s', platform => {
  describe.each(['modern', 'legacy'] as const)('%s', era => {
    it('discovers, logs in with PKCE, and steps up', async () => {
      const shop = await startShop(platform);
      expect(await useShop(await shop.url(), era)).toEqual(SAID);
    });

    it('does so under a global prefix', async () => {
      const path = '/api/mcp';
      const shop = await startShop(platform, { path, configure: app => app.setGlobalPrefix('api') });
      expect(await useShop(await shop.url(path), era)).toEqual(SAID);
    });

    it('does so behind a proxy that takes a prefix away', async () => {
      const proxy = await startProxy();
      const shop = await startShop(platform, {
        resource: `${proxy.url}/shop/mcp`,
        metadataUrl: `${proxy.url}/shop/.well-known/oauth-protected-resource/mcp`,
      });
      proxy.to(Number(new URL(await shop.url('/')).port));
      expect(await useShop(`${proxy.url}/shop/mcp`, era)).toEqual(SAID);
    });
  });
});

it.each(['modern', 'legacy'] as const)('%s: the example of the documentation steps up', async era => {
  // The other examples of the page need them when the file is loaded.
  Object.assign(process.env, { CLIENT_SECRET: 'a secret', JWT_SECRET: 'another secret' });
  const example = await import('../../docs/snippets/authorization.js');
  const shop = await startShop('express', { handlers: [example.OrderTools, example.StaffOnly] });
  const said = SAID.map(text => EXAMPLE_SAYS[text] ?? text);
  expect(await useShop(await shop.url(), era)).toEqual(said);
});

describe('credentials of the application itself', () => {
  const job = () =>
    new ClientCredentialsProvider({
      clientId: 'night-job',
      clientSecret: 'a secret that is not for production',
      scope: 'orders:write',
      expectedIssuer: issuer,
    });

  it('let a client of McpClientModule call', async () => {
    const shop = await startShop('express');
    const app = await startApp([], {
      module: {
        imports: [McpClientModule.register([{ name: 'shop', url: await shop.url(), auth: job() }])],
      },
    });
    closing.push(app);
    const client = app.app.get(McpClients).get('shop')!;
    // What is hidden starts no login.
    expect(textOf(await client.callTool({ name: 'listOrders' }))).toMatch(/^night-job sees/);
    expect(textOf(await client.callTool({ name: 'purge', arguments: {} }))).toBe('Purged');
  });

  it('let a gateway call, whoever its own callers are', async () => {
    const shop = await startShop('express');
    const gateway = await startApp([], {
      mcp: { http: { path: '/unused' } },
      module: {
        imports: [
          McpGatewayModule.forRoot({ path: '/gateway', backend: { url: await shop.url(), auth: job() } }),
        ],
      },
    });
    closing.push(gateway);
    const client = await gateway.client({ path: '/gateway' });
    expect(textOf(await client.callTool({ name: 'listOrders' }))).toMatch(/^night-job sees/);
    expect(textOf(await client.callTool({ name: 'purge', arguments: {} }))).toBe('Purged');
  });
});
