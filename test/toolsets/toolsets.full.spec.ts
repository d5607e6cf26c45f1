import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { McpServerRegistry, Prompt, Resource, Tool, Visible, type McpModuleOptions } from 'nestjs-mcp';
import { McpAuthModule, RequireScopes, type TokenVerifier } from 'nestjs-mcp/auth';
import { App, McpAppsModule } from 'nestjs-mcp/apps';
import { McpToolsetsModule, Toolset, type McpToolsetsOptions } from 'nestjs-mcp/toolsets';
import type { TestClientOptions } from 'nestjs-mcp/testing';
import type { View } from '../../lib/protocol/mcp-call.js';
import { ToolsetViews } from '../../lib/toolsets/toolset-views.js';
import { bearer, trusting } from '../auth/callers.js';
import { startExplored } from '../explorer/explored-app.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { platforms, startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { openSession, post } from '../fixtures/raw-session.js';

const READS = { annotations: { readOnlyHint: true } };

/** A server with the sets `a` and `b`, as far as views read it. */
const SERVER = {
  handlers: { isRemote: false },
  catalog: { listed: [{ target: { handlerClass: inSets('a', 'b'), instance: {}, methodName: 'toString' } }] },
};

function inSets(...names: string[]) {
  class InSets {}
  Toolset(...names)(InSets);
  return InSets;
}

@Toolset('billing')
@Injectable()
class Billing {
  @Tool(READS)
  listInvoices() {
    return 'invoices';
  }

  @Tool()
  payInvoice() {
    return 'paid';
  }

  @Prompt({ argsSchema: { type: 'object', properties: { month: { type: 'string', enum: ['May'] } } } })
  monthEnd() {
    return 'Close the month';
  }

  @Resource({ uri: 'billing://rates' })
  rates() {
    return '19';
  }
}

@Injectable()
class Shop {
  @Toolset('orders')
  @Tool(READS)
  listOrders() {
    return 'orders';
  }

  @Toolset('orders', 'billing')
  @Tool()
  refund() {
    return 'refunded';
  }

  /** In no set. */
  @Tool(READS)
  ping() {
    return 'pong';
  }

  @Resource({ uri: 'shop://about' })
  about() {
    return 'A shop';
  }
}

const PUBLIC = { cache: { 'tools/list': { ttlMs: 1000, cacheScope: 'public' } } } as const;

/** A request that is no message of the protocol. */
const send = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' });

describe.each(platforms())('toolsets on %s', platform => {
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));

  const start = async (
    options: McpToolsetsOptions = {},
    mcp: Partial<McpModuleOptions> = {},
    { imports = [], configure }: { imports?: object[]; configure?: (app: TestApp['app']) => void } = {},
  ) => {
    const app = await startApp([Billing, Shop], {
      platform,
      mcp,
      module: { imports: [McpToolsetsModule.forRoot(options), ...(imports as never[])] },
      configure,
    });
    apps.push(app);
    return app;
  };
  const namesAt = async (app: TestApp, options: TestClientOptions) => {
    const client = await app.client(options);
    return (await client.listTools()).tools.map(({ name }) => name).sort();
  };

  describe.each(['modern', 'legacy'] as const)('for %s clients', era => {
    it.each([
      ['/mcp', ['listInvoices', 'listOrders', 'payInvoice', 'ping', 'refund']],
      ['/mcp/x/billing', ['listInvoices', 'payInvoice', 'refund']],
      ['/mcp/x/orders', ['listOrders', 'refund']],
      ['/mcp/x/orders,billing,orders', ['listInvoices', 'listOrders', 'payInvoice', 'refund']],
      ['/mcp/x/orders%2Cbilling', ['listInvoices', 'listOrders', 'payInvoice', 'refund']],
      ['/mcp/readonly', ['listInvoices', 'listOrders', 'ping']],
      ['/mcp/x/billing/readonly', ['listInvoices']],
    ])('%s lists %j', async (path, expected) => {
      expect(await namesAt(await start(), { era, path })).toEqual(expected);
    });

    it('a set answers calls, prompts, resources and completions of its own and of no set', async () => {
      const app = await start();
      const billing = await app.client({ era, path: '/mcp/x/billing' });
      expect(textOf(await billing.callTool({ name: 'payInvoice' }))).toBe('paid');
      await expect(billing.callTool({ name: 'listOrders' })).rejects.toThrow('listOrders');
      await expect(billing.callTool({ name: 'ping' })).rejects.toThrow('ping');
      expect((await billing.listPrompts()).prompts).toHaveLength(1);
      const month = {
        ref: { type: 'ref/prompt', name: 'monthEnd' },
        argument: { name: 'month', value: '' },
      } as const;
      expect((await billing.complete(month)).completion.values).toEqual(['May']);

      const orders = await app.client({ era, path: '/mcp/x/orders' });
      expect((await orders.listPrompts()).prompts).toEqual([]);
      await expect(orders.getPrompt({ name: 'monthEnd' })).rejects.toThrow('monthEnd');
      await expect(orders.complete(month)).rejects.toThrow('monthEnd');
      await expect(orders.readResource({ uri: 'billing://rates' })).rejects.toThrow('not found');
      expect((await orders.readResource({ uri: 'shop://about' })).contents).toHaveLength(1);
      const readonly = await app.client({ era, path: '/mcp/readonly' });
      await expect(readonly.callTool({ name: 'payInvoice' })).rejects.toThrow('payInvoice');
    });
  });

  it('answers 404 for a set that does not exist, and serves what is added at run time', async () => {
    const app = await start();
    const statusOf = async (path: string) => (await send(await app.url(path))).status;
    expect(await statusOf('/mcp/x/sales')).toBe(404);
    expect(await statusOf('/mcp/x/billing,sales')).toBe(404);
    expect(await statusOf('/mcp/x/billing/other')).toBe(404);
    expect(await statusOf('/mcp/x/billing')).not.toBe(404);

    const sell = () => 'sold';
    Toolset('sales')(sell);
    await app.app.get(McpServerRegistry).add('tool', { name: 'sell' }, sell);
    expect(await namesAt(app, { path: '/mcp/x/sales' })).toEqual(['sell']);
  });

  it.each([
    '/mcp/reado%6Ely',
    '/mcp/x/billing/reado%6Ely',
    '/mcp/%78/billing',
    '/mcp/readonly#',
    '/mcp/readonly;',
    '/mcp/x/,',
    '/mcp/x/%2c',
    '/mcp/x/,/readonly',
    '/mcp/%78/billing/readonly',
    '/mcp/x/b%69lling',
    '/mcp/x/%',
    '/mcp/x/billing%2Freadonly',
    '/mcp/x/__proto__',
    '/MCP/X/billing/readonly',
    '/mcp/readonly/',
    '//mcp/readonly',
    '/mcp/./readonly',
  ])('never serves more at %s than a reader of the path expects', async path => {
    const app = await start();
    const { hostname, port } = new URL(await app.url());
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const ask = async (message: object, more: Record<string, string> = {}) => {
      // Node's client sends the path as it is.
      const sending = request({ hostname, port, path, method: 'POST', headers: { ...headers, ...more } });
      sending.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));
      const [response] = (await once(sending, 'response')) as [IncomingMessage];
      return { response, body: await text(response) };
    };
    const { response } = await ask({ method: 'initialize', params });
    const session = String(response.headers['mcp-session-id']);
    if (response.statusCode !== 200) return expect([400, 404]).toContain(response.statusCode);
    const { body } = await ask({ method: 'tools/list' }, { 'mcp-session-id': session });
    expect(body).toContain('listInvoices');
    expect(body.includes('listOrders')).toBe(!path.includes('billing'));
    expect(body.includes('payInvoice')).toBe(!path.includes('reado'));
  });

  it('does not serve a session of one set with another', async () => {
    const app = await start();
    const session = await openSession(await app.url('/mcp/x/billing'));
    const statusAt = async (path: string) =>
      (await post(await app.url(path), session, { id: 1, method: 'ping' })).status;
    expect(await statusAt('/mcp/x/billing')).toBe(200);
    expect(await statusAt('/mcp/x/orders')).toBe(404);
    expect(await statusAt('/mcp/x/billing/readonly')).toBe(404);
    expect(await statusAt('/mcp')).toBe(404);
  });

  it('reads headers only if told to, under the path, and keeps their lists private', async () => {
    const headers = { 'x-mcp-toolsets': 'orders', 'x-mcp-exclude-tools': 'refund' };
    const all = ['listInvoices', 'listOrders', 'payInvoice', 'ping', 'refund'];
    expect(await namesAt(await start(), { headers })).toEqual(all);
    const app = await start({ headers: true }, PUBLIC);
    const at = (own: Record<string, string>, path = '/mcp') => namesAt(app, { headers: own, path });
    expect(await at({})).toEqual(all);
    expect(await at(headers)).toEqual(['listOrders']);
    expect(await at({ 'x-mcp-toolsets': 'orders' })).toEqual(['listOrders', 'refund']);
    expect(await at({ 'x-mcp-toolsets': 'orders', 'x-mcp-tools': 'ping, none' })).toEqual([
      'listOrders',
      'ping',
      'refund',
    ]);
    expect(await at({ 'x-mcp-readonly': 'true' })).toEqual(['listInvoices', 'listOrders', 'ping']);
    expect(await at(headers, '/mcp/x/billing')).toEqual(['listInvoices', 'payInvoice']);
    expect((await send(await app.url(), { 'x-mcp-toolsets': 'none' })).status).toBe(404);
    // The same URL has another list for a client with headers.
    const scopeOf = async (own: Record<string, string>, path: string, one = app) => {
      const client = await one.client({ headers: own, path });
      return (await client.listTools())['cacheScope'];
    };
    expect(await scopeOf(headers, '/mcp')).toBe('private');
    expect(await scopeOf({}, '/mcp')).toBe('private');
    const plain = await start({}, PUBLIC);
    expect(await scopeOf({}, '/mcp', plain)).toBe('public');
    expect(await scopeOf({}, '/mcp/x/billing', plain)).toBe('public');
  });

  it('hides handlers by guards within a set, too', async () => {
    @Toolset('billing')
    class Hidden {
      @Visible({ canActivate: () => false })
      @Tool()
      secret() {
        return 'secret';
      }
    }
    const app = await startApp([Billing, Hidden], {
      platform,
      module: { imports: [McpToolsetsModule.forRoot()] },
    });
    apps.push(app);
    expect(await namesAt(app, { path: '/mcp/x/billing' })).toEqual(['listInvoices', 'payInvoice']);
    const client = await app.client({ path: '/mcp/x/billing' });
    await expect(client.callTool({ name: 'secret' })).rejects.toThrow('secret');
  });

  it('follows the prefix and the version of the application, and another segment', async () => {
    const app = await start(
      { segment: 'sets' },
      { http: { path: 'api/mcp' } },
      { configure: one => one.setGlobalPrefix('v1') },
    );
    expect(await namesAt(app, { path: '/v1/api/mcp/sets/orders' })).toEqual(['listOrders', 'refund']);
    expect((await send(await app.url('/v1/api/mcp/x/orders'))).status).toBe(404);
  });

  it('makes one list of a set, in whatever order it is named', () => {
    const views = new ToolsetViews({ segment: 'x', headers: false }, () => SERVER as never);
    const keyOf = (path: string) => (views.of(path, {}, true) as View).key;
    const keys = ['a,b', 'b,a', 'b,a,b', 'a%2Cb', 'a,,b', ' a,b'].map(list => keyOf(`/mcp/x/${list}`));
    expect(new Set(keys).size).toBe(1);
    expect(keyOf('/mcp/x/a')).not.toBe(keys[0]);
    expect(keyOf('/mcp/x/a,b/readonly')).not.toBe(keys[0]);
  });

  it('a view of a tool can be read in each set of the tool', async () => {
    @App({ uri: 'ui://orders', html: '<p>Orders</p>' })
    @Toolset('orders')
    @Injectable()
    class Board {
      @Toolset('billing')
      @Tool({ ui: 'ui://orders' })
      board() {
        return 'board';
      }
    }
    const imports = [McpToolsetsModule.forRoot(), McpAppsModule.forRoot()];
    const app = await startApp([Board], { platform, module: { imports } });
    apps.push(app);
    const client = await app.client({ path: '/mcp/x/billing' });
    expect((await client.readResource({ uri: 'ui://orders' })).contents).toHaveLength(1);
  });

  it('refuses a prefix that excludes the endpoint and not its parts', async () => {
    const exclude = ['mcp'];
    const prefixed = (more: string[]) =>
      start({}, {}, { configure: one => one.setGlobalPrefix('api', { exclude: [...exclude, ...more] }) });
    await expect(prefixed([])).rejects.toThrow('it excludes /mcp, but not /api/mcp/readonly');
    expect(await namesAt(await prefixed(['mcp/*path']), { path: '/mcp/x/orders' })).toHaveLength(2);
  });

  it.each([
    ['a path that ends like a set', { http: { path: '/mcp/x/orders' } }, {}, 'ends like a toolset'],
    ['a segment with a slash', {}, { segment: 'a/b' }, '"segment" must be a part of a path'],
  ])('refuses %s', async (_, mcp, options, problem) => {
    await expect(start(options, mcp)).rejects.toThrow(problem);
  });

  it('refuses two modules for one server', async () => {
    const imports = [McpToolsetsModule.forRoot({ segment: 'y' })];
    await expect(start({}, {}, { imports })).rejects.toThrow('the server "test" has two of it');
  });

  it('refuses a name that no list can hold', () => {
    expect(() => Toolset('billing,orders')).toThrow('"billing,orders" is not the name of a set');
  });

  it('takes hints of tools, and warns of what hosts do not allow', async () => {
    class Hinted {
      @Tool({ hints: { alwaysLoad: true, searchHint: 'money back', maxResultSizeChars: 600_000 } })
      refund() {
        return 'refunded';
      }

      @Tool({ description: 'a'.repeat(2049) })
      long() {
        return '';
      }
    }
    const log = new LogSpy();
    const app = await startApp([Hinted], {
      platform,
      module: { imports: [McpToolsetsModule.forRoot()] },
      configure: one => one.useLogger(log),
    });
    apps.push(app);
    const { tools } = await (await app.client()).listTools();
    expect(tools.find(({ name }) => name === 'refund')?._meta).toEqual({
      'anthropic/alwaysLoad': true,
      'anthropic/searchHint': 'money back',
      'anthropic/maxResultSizeChars': 600_000,
    });
    expect(log.warnings).toEqual([
      expect.stringContaining('Hinted.refund: "hints.maxResultSizeChars" is more than 500,000'),
      expect.stringContaining('Hinted.long: its description is longer than 2 KB'),
    ]);
  });

  it('show their cost and what they leave out in the explorer', async () => {
    const app = await startExplored([Billing, Shop], {
      platform,
      module: { imports: [McpToolsetsModule.forRoot()] },
    });
    apps.push(app);
    const [server] = (await app.get('/mcp-explorer/api/catalogue')).json.servers;
    expect(server.parts).toEqual([
      '/readonly',
      ...['billing', 'orders'].flatMap(name => [`/x/${name}`, `/x/${name}/readonly`]),
    ]);
    const at = (part: string, caller: object) =>
      app.post('/mcp-explorer/api/callers', { server: 'test', part, caller });
    for (const caller of [{ kind: 'anonymous' }, { kind: 'synthetic', scopes: [], roles: [] }]) {
      const [tools] = (await at('/x/orders', caller)).json.lists;
      expect(tools.entries).toMatchObject([{ name: 'listOrders' }, { name: 'refund' }]);
      expect(tools.tokens).toEqual([expect.any(Number), expect.any(Number)]);
      expect(tools.missing).toContainEqual(expect.objectContaining({ name: 'payInvoice', by: 'part' }));
    }
    expect((await at('/x/none', { kind: 'anonymous' })).status).toBe(404);
  });

  describe('with logins', () => {
    const verifier: TokenVerifier = {
      verifyAccessToken: async token => {
        const resource = new URL(Buffer.from(token, 'base64url').toString());
        return { token, clientId: 'c', scopes: [], resource, expiresAt: Date.now() / 1000 + 60 };
      },
    };
    const protect = (resource?: string, own: TokenVerifier = verifier) =>
      McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: own, resource });

    it.each([undefined, 'https://shop.example/api'])(
      'names the URL of each set, and takes a token of any (resource %s)',
      async resource => {
        const app = await start({}, {}, { imports: [protect(resource)] });
        const origin = new URL(await app.url()).origin;
        const base = resource ?? `${origin}/mcp`;
        const place = `/.well-known/oauth-protected-resource${new URL(base).pathname}`;
        for (const suffix of ['', '/readonly', '/x/billing', '/x/billing,orders/readonly']) {
          const refused = await send(`${origin}/mcp${suffix}`);
          const url = `${new URL(base).origin}${place}${suffix}`;
          expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${url}"`);
          const metadata = (await (await fetch(`${origin}${place}${suffix}`)).json()) as object;
          expect(metadata).toMatchObject({ resource: base + suffix });
        }
        expect((await fetch(`${origin}${place}/x/none`)).status).toBe(404);
        const statusOf = async (audience: string, path: string) => {
          const authorization = `Bearer ${Buffer.from(audience).toString('base64url')}`;
          return (await send(`${origin}${path}`, { authorization })).status;
        };
        for (const audience of ['', '/readonly', '/x/orders', '/x/orders/readonly']) {
          for (const path of ['/mcp', '/mcp/readonly', '/mcp/x/billing']) {
            expect([audience, path, await statusOf(base + audience, path)]).toEqual([audience, path, 400]);
          }
        }
        expect(await statusOf(`${base}/x/none`, '/mcp')).toBe(401);
        expect(await statusOf('https://other.example/mcp', '/mcp/x/billing')).toBe(401);
      },
    );

    it('verifies a token once for all parts, and counts it once if it is refused', async () => {
      let verifications = 0;
      const app = await startApp([Billing], {
        platform,
        module: {
          imports: [
            McpToolsetsModule.forRoot(),
            protect(undefined, {
              verifyAccessToken: async (token, context) => {
                verifications += 1;
                return trusting.verifyAccessToken(token, context);
              },
            }),
          ],
        },
      });
      apps.push(app);
      for (const headers of [bearer('ada'), { authorization: 'Bearer wrong' }]) {
        verifications = 0;
        for (const path of ['/mcp', '/mcp/readonly', '/mcp/x/billing', '/mcp/x/billing/']) {
          await send(await app.url(path), headers);
        }
        expect(verifications).toBe(1);
      }
    });

    it('takes a token of several sets at its URL, wherever it was sent before', async () => {
      const app = await start({}, {}, { imports: [protect()] });
      const url = await app.url('/mcp/x/billing,orders');
      const authorization = `Bearer ${Buffer.from(url).toString('base64url')}`;
      expect((await send(await app.url(), { authorization })).status).toBe(401);
      expect((await send(url, { authorization })).status).toBe(400);
    });

    it('ends the verifications of a token that is refused at ever new URLs', async () => {
      let verifications = 0;
      const verifyAccessToken = (token: string, context: object) => {
        verifications += 1;
        return trusting.verifyAccessToken(token, context as never);
      };
      const auth = McpAuthModule.forRoot({
        authorizationServers: ['https://login.example'],
        verifier: { verifyAccessToken },
        maxRefusedPerAddress: 2,
      });
      const app = await start({}, {}, { imports: [auth] });
      const statuses: number[] = [];
      for (let names = 2; names < 6; names++) {
        const url = await app.url(`/mcp/x/${Array(names).fill('billing').join(',')}`);
        statuses.push((await send(url, { authorization: 'Bearer wrong' })).status);
      }
      expect([statuses, verifications]).toEqual([[401, 401, 429, 429], 2]);
    });

    it('refuses a resource that looks like a set', async () => {
      await expect(start({}, {}, { imports: [protect('https://shop.example/x/orders')] })).rejects.toThrow(
        'the path of "resource" ends like a toolset: https://shop.example/x/orders',
      );
    });

    it('requires the scopes of a tool in each set', async () => {
      @Toolset('billing')
      class Scoped {
        @RequireScopes('pay')
        @Tool()
        pay() {
          return 'paid';
        }
      }
      const app = await startApp([Scoped], {
        platform,
        module: { imports: [McpToolsetsModule.forRoot(), protect(undefined, trusting)] },
      });
      apps.push(app);
      const client = await app.client({
        path: '/mcp/x/billing',
        headers: bearer('ada'),
      });
      await expect(client.callTool({ name: 'pay' })).rejects.toThrow('Insufficient scope');
    });
  });
});
