import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { McpServerRegistry, Prompt, Resource, Tool, Visible, type McpModuleOptions } from 'nestjs-mcp';
import { McpAuthModule, RequireScopes, type TokenVerifier } from 'nestjs-mcp/auth';
import { McpToolsetsModule, Toolset, type McpToolsetsOptions } from 'nestjs-mcp/toolsets';
import type { TestClientOptions } from 'nestjs-mcp/testing';
import { bearer, trusting } from '../auth/callers.js';
import { startExplored } from '../explorer/explored-app.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { platforms, startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { openSession, post } from '../fixtures/raw-session.js';

const READS = { annotations: { readOnlyHint: true } };

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
    const app = await start({ headers: true });
    const at = (own: Record<string, string>, path = '/mcp') => namesAt(app, { headers: own, path });
    expect(await at({})).toEqual(all);
    expect(await at(headers)).toEqual(['listOrders']);
    expect(await at({ 'x-mcp-toolsets': 'orders', 'x-mcp-tools': 'ping, none' })).toEqual([
      'listOrders',
      'ping',
      'refund',
    ]);
    expect(await at({ 'x-mcp-readonly': 'true' })).toEqual(['listInvoices', 'listOrders', 'ping']);
    expect(await at(headers, '/mcp/x/billing')).toEqual(['listInvoices', 'payInvoice']);
    expect((await send(await app.url(), { 'x-mcp-toolsets': 'none' })).status).toBe(404);
    // The same URL has another list for a client with headers.
    const scopeOf = async (own: Record<string, string>, path: string) => {
      const client = await app.client({ headers: own, path });
      return (await client.listTools())['cacheScope'];
    };
    expect(await scopeOf(headers, '/mcp')).toBe('private');
    expect(await scopeOf({}, '/mcp')).toBe('private');
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
    for (const caller of [{ kind: 'anonymous' }, { kind: 'made-up', scopes: [], roles: [] }]) {
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
        for (const path of ['/mcp', '/mcp/readonly', '/mcp/x/billing', '/mcp/x/billing,billing/readonly']) {
          await send(await app.url(path), headers);
        }
        expect(verifications).toBe(1);
      }
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
