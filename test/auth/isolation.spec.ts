import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Resource, Sink, Tool, type InterceptorInvocation } from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { McpGatewayModule, type GatewayBackend } from 'nestjs-mcp/gateway';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { bearer, tokenOf, trusting } from './callers.js';
import { ask, textIn } from './raw-caller.js';

const SECRET = 'a secret that all nodes of the shop share';

const ADA = bearer('ada');
const GRACE = bearer('grace');

@Injectable()
class Tools {
  @Tool()
  async order(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('size', {
      message: 'Which size?',
      schema: { type: 'object', properties: { size: { type: 'string' } } } as const,
    });
    return `${String(ctx.authInfo?.extra?.['sub'])} ordered ${JSON.stringify(content)}`;
  }

  @Tool()
  headers(@Ctx() { headers, authInfo }: McpContext) {
    return `${String(headers.authorization)}, ${authInfo?.clientId}`;
  }

  @Resource({ uri: 'state://a' })
  state() {
    return 'state';
  }
}

/** What interceptors are told of the caller. */
@Injectable()
class Seen {
  static readonly principals: unknown[] = [];

  @Sink({ events: ['tools/call'] })
  see({ context }: InterceptorInvocation) {
    Seen.principals.push(context?.principal);
  }
}

const protect = (options: object = {}) =>
  McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting, ...options });

describe('what belongs to one principal', () => {
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));

  const node = async (providers: readonly never[] = [], imports: readonly unknown[] = []) => {
    const app = await startApp([Tools, ...providers], {
      mcp: { mrtr: { secret: SECRET } },
      module: { imports: [protect(), ...(imports as [])] },
    });
    apps.push(app);
    return app.url();
  };

  const call = (url: string, headers: Record<string, string>, name: string, more: object = {}) =>
    ask({ url, era: 'modern', headers }, 'tools/call', { name, arguments: {}, ...more });

  it('is what interceptors and handlers are told, without the token', async () => {
    const url = await node([Seen as never]);
    Seen.principals.splice(0);
    await call(url, bearer('ada', 'a'), 'headers');
    expect(Seen.principals).toEqual([
      expect.objectContaining({
        type: 'user',
        id: 'ada',
        claims: { sub: 'ada', clientId: 'desk', scopes: ['a'] },
      }),
    ]);
    expect(JSON.stringify(Seen.principals)).not.toContain(tokenOf('ada', 'a'));
  });
});

describe('a gateway', () => {
  const apps: TestApp[] = [];
  afterEach(async () => {
    for (const app of apps.splice(0).reverse()) await app.close();
  });

  const start = async (backend: Partial<GatewayBackend> = {}) => {
    const shop = await startApp([Tools], {
      mcp: { mrtr: { secret: SECRET } },
      module: { imports: [protect()] },
    });
    apps.push(shop);
    const gateway = await startApp([], {
      mcp: { http: { path: '/unused' } },
      module: {
        imports: [
          McpGatewayModule.forRoot({
            path: '/gateway',
            backend: { url: await shop.url(), ...backend },
            mrtr: { secret: SECRET },
          }),
          protect({ server: 'gateway', resource: 'https://gateway.example/mcp' }),
        ],
      },
    });
    apps.push(gateway);
    return gateway.url('/gateway');
  };

  const call = (url: string, headers: Record<string, string>, name: string, more: object = {}) =>
    ask({ url, era: 'modern', headers }, 'tools/call', { name, arguments: {}, ...more });

  it('refuses callers without a token, and never sends theirs to a backend', async () => {
    const url = await start({ auth: { token: async () => tokenOf('gateway') } });
    expect(await call(url, {}, 'headers')).toMatchObject({ status: 401 });
    expect(textIn(await call(url, ADA, 'headers'))).toBe(`Bearer ${tokenOf('gateway')}, desk`);
  });

  it('keeps the state of a call for its principal', async () => {
    const url = await start({ auth: { token: async () => tokenOf('gateway') } });
    const { result } = await call(url, ADA, 'order');
    const { requestState } = result as { requestState: string };
    const next = { requestState, inputResponses: { size: { action: 'accept', content: { size: 'L' } } } };
    expect((await call(url, GRACE, 'order', next)).error).toMatchObject({ code: -32602 });
    expect(textIn(await call(url, ADA, 'order', next))).toBe('gateway ordered {"size":"L"}');
  });
});
