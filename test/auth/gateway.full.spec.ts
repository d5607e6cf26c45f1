import { Injectable } from '@nestjs/common';
import type { AuthInfo } from '@modelcontextprotocol/server';
import {
  Ctx,
  McpContext,
  McpException,
  Mutator,
  Resource,
  Tool,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { McpAuthModule, RequireScopes, type McpAuthOptions } from 'nestjs-mcp/auth';
import { McpGatewayModule, type GatewayBackend, type McpGatewayOptions } from 'nestjs-mcp/gateway';
import { EventReader } from '../fixtures/event-reader.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { ERAS, type Era } from '../gateway/support.js';
import { bearer, tokenOf, trusting } from './callers.js';
import { ask, listenHeaders, listenMessage, openSession, textIn } from './raw-caller.js';

@Injectable()
class Tools {
  @Tool()
  whoAmI(@Ctx() { headers, sessionId }: McpContext) {
    return [headers.authorization, sessionId].join(' ');
  }

  @Tool()
  push() {
    return 'pushed';
  }

  @Resource({ uri: 'state://open' })
  open() {
    return 'open';
  }

  @RequireScopes('files')
  @Resource({ uri: 'state://closed' })
  closed() {
    return 'closed';
  }
}

const protect = (options: Partial<McpAuthOptions>) =>
  McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting, ...options });

const OWN = { token: async () => tokenOf('gateway', 'files') };

/** Gives the backend a token of another issuer, as a token exchange does. */
const exchanged = (caller: AuthInfo | undefined) =>
  tokenOf(caller ? `for${String(caller.extra?.['sub'])}` : 'foranybody', ...(caller?.scopes ?? []));

const apps: TestApp[] = [];
const log = new LogSpy();
afterEach(async () => {
  for (const app of apps.splice(0).reverse()) await app.close();
});

const startShop = async () => {
  // A list that shows a resource does not say that the caller may use it.
  const shop = await startApp([Tools], { module: { imports: [protect({ lists: 'all' })] } });
  apps.push(shop);
  return shop.url();
};

interface Gateway extends Partial<Omit<McpGatewayOptions, 'backend'>> {
  readonly backend?: Partial<GatewayBackend>;
  readonly auth?: Partial<McpAuthOptions> | false;
  readonly providers?: readonly unknown[];
}

const startGateway = async ({ backend, auth = {}, providers = [], ...options }: Gateway) => {
  const url = await startShop();
  const gateway = await startApp(providers as never[], {
    mcp: { http: { path: '/unused' } },
    module: {
      imports: [
        McpGatewayModule.forRoot({
          path: '/gateway',
          ...(!options.backends && { backend: { url, auth: OWN, ...backend } }),
          ...options,
        }),
        ...(auth ? [protect({ server: 'gateway', resource: 'https://gateway.example/mcp', ...auth })] : []),
      ],
    },
    configure: app => app.useLogger(log),
  });
  apps.push(gateway);
  return gateway.url('/gateway');
};

type Headers = Record<string, string>;

const call = (url: string, headers: Headers, name: string) =>
  ask({ url, era: 'modern', headers }, 'tools/call', { name, arguments: {} });

describe('tokenFor of a backend', () => {
  describe.each(ERAS.flatMap(client => ERAS.map(era => [client, era] as [Era, Era])))(
    'for a %s client and a %s backend',
    (client, era) => {
      it('makes the credentials of each request from its caller', async () => {
        const url = await startGateway({ backend: { era, tokenFor: exchanged } });
        const saidTo = async (subject: string) => {
          const headers = bearer(subject);
          const session = client === 'legacy' ? await openSession(url, headers) : undefined;
          const said: string[] = [];
          for (let round = 0; round < 3; round += 1) {
            const reply = await ask({ url, era: client, headers, session }, 'tools/call', { name: 'whoAmI' });
            said.push(textIn(reply)!);
          }
          return said.map(text => text.split(' '));
        };
        const [ada, grace] = await Promise.all([saidTo('ada'), saidTo('grace')]);
        expect(ada.map(([, token]) => token)).toEqual(Array(3).fill(tokenOf('forada')));
        expect(grace.map(([, token]) => token)).toEqual(Array(3).fill(tokenOf('forgrace')));
        const sessions = new Set([...ada, ...grace].map(([, , session]) => session).filter(Boolean));
        expect(sessions.size).toBe(era === 'legacy' ? 2 : 0);
      });
    },
  );

  it('is asked once for each verified token, and for anonymous callers', async () => {
    const tokenFor = jest.fn(exchanged);
    const url = await startGateway({ backend: { tokenFor }, auth: { anonymous: true } });
    for (const headers of [bearer('ada'), bearer('ada'), bearer('ada', 'more'), {}]) {
      await call(url, headers, 'whoAmI');
    }
    const callers = tokenFor.mock.calls.map(([caller]) => caller?.token);
    expect(callers).toEqual([tokenOf('ada'), tokenOf('ada', 'more'), undefined]);
  });

  it.each<[string, () => string | Promise<string>]>([
    ['fails', () => Promise.reject(new Error(`fetch failed for ${tokenOf('ada')}`))],
    [
      'throws',
      () => {
        throw new Error('no route');
      },
    ],
    ['hangs', () => new Promise<string>(() => undefined)],
    ['returns nothing', () => undefined as never],
    ['returns a text that would end the header', () => `${tokenOf('ada')}\r\nx: y`],
  ])('that %s is a 503, without a token in the log', async (_what, fail) => {
    log.warnings.splice(0);
    const tokenFor = jest.fn(fail);
    const url = await startGateway({ backend: { tokenFor, connectTimeoutMs: 200 } });
    expect(await call(url, bearer('ada'), 'whoAmI')).toMatchObject({
      status: 503,
      error: { code: -32000, message: expect.stringContaining('no access token') },
    });
    expect(log.warnings.join()).toContain('"backend.tokenFor" returned no token: ');
    expect([...log.warnings, ...log.errors].join()).not.toContain(tokenOf('ada'));
    tokenFor.mockImplementation(() => tokenOf('later'));
    expect(textIn(await call(url, bearer('ada'), 'whoAmI'))).toContain(tokenOf('later'));
  });

  it('refuses a caller by an McpException', async () => {
    const tokenFor = () => Promise.reject(new McpException(-32000, 'No account there'));
    const url = await startGateway({ backend: { tokenFor } });
    expect(await call(url, bearer('ada'), 'whoAmI')).toMatchObject({
      error: { code: -32000, message: 'No account there' },
    });
  });

  it('leaves a backend out of the lists of a caller without a token for it', async () => {
    const [files, git] = [await startShop(), await startShop()];
    const url = await startGateway({
      backends: {
        files: { url: files, auth: OWN },
        git: { url: git, auth: OWN, tokenFor: () => Promise.reject(new Error('no route')) },
      },
    });
    const { result } = await ask({ url, era: 'modern', headers: bearer('ada') }, 'tools/list');
    expect((result?.['tools'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'files_whoAmI',
      'files_push',
    ]);
  });

  it.each(ERAS)('decides which resources of a %s backend a caller may subscribe to', async era => {
    const url = await startGateway({ backend: { era, tokenFor: exchanged } });
    const subscribe = async (headers: Headers, uri: string) => {
      const session = await openSession(url, headers);
      return ask({ url, era: 'legacy', headers, session }, 'resources/subscribe', { uri });
    };
    expect(await subscribe(bearer('ada'), 'state://open')).toMatchObject({ result: {} });
    expect(await subscribe(bearer('ada', 'files'), 'state://closed')).toMatchObject({ result: {} });
    expect(await subscribe(bearer('ada'), 'state://closed')).toMatchObject({ error: expect.any(Object) });
  });

  it.each(ERAS)('decides what a 2026 client hears of a %s backend', async era => {
    const url = await startGateway({ backend: { era, tokenFor: exchanged } });
    const listen = (headers: Headers, ...resourceSubscriptions: string[]) =>
      EventReader.open(url, listenHeaders(headers), listenMessage({ resourceSubscriptions }));
    const refused = await listen(bearer('ada'), 'state://open', 'state://closed');
    expect(refused.type).toBe('application/json');
    const heard = await listen(bearer('ada', 'files'), 'state://closed');
    expect((await heard.message())?.message).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { resourceSubscriptions: ['state://closed'] } },
    });
    heard.cut();
  });

  it('is only for a server at a "url"', () => {
    const backend = { command: 'node', tokenFor: exchanged };
    expect(() => McpGatewayModule.forRoot({ backend })).toThrow('"tokenFor" is only for a server at a "url"');
  });
});

describe('toolScopes of a gateway', () => {
  const toolScopes = { '*': ['git'], 'pu*': ['git', 'write'], whoAmI: ['git'] };
  const METADATA = 'resource_metadata="https://gateway.example/.well-known/oauth-protected-resource/mcp"';

  const list = async (url: string, headers: Headers) => {
    const { result } = await ask({ url, era: 'modern', headers }, 'tools/list');
    return (result?.['tools'] as { name: string }[]).map(({ name }) => name);
  };

  it('decide which tools a caller sees and may call', async () => {
    const url = await startGateway({ toolScopes, auth: { lists: 'allowed' } });
    expect(await list(url, bearer('ada'))).toEqual([]);
    expect(await list(url, bearer('ada', 'git'))).toEqual(['whoAmI']);
    expect(await list(url, bearer('ada', 'git', 'write'))).toEqual(['whoAmI', 'push']);
    expect(await call(url, bearer('ada', 'git'), 'push')).toMatchObject({
      status: 403,
      challenge: `Bearer error="insufficient_scope", scope="git write", ${METADATA}`,
    });
    expect(textIn(await call(url, bearer('ada', 'git', 'write'), 'push'))).toBe('pushed');
    expect(await call(url, {}, 'push')).toMatchObject({
      status: 401,
      challenge: `Bearer scope="git write", ${METADATA}`,
    });
    const page = await ask({ url, era: 'modern', headers: bearer('ada') }, 'tools/list');
    expect(page.result).toMatchObject({ cacheScope: 'private' });
  });

  it('hide the tools whose scopes a caller neither has nor can get by a login', async () => {
    log.warnings.splice(0);
    const auth = { anonymous: true, scopesSupported: ['git'] };
    const url = await startGateway({ toolScopes, auth });
    expect(await list(url, {})).toEqual(['whoAmI']);
    expect(await list(url, bearer('ada'))).toEqual(['whoAmI']);
    expect(await list(url, bearer('ada', 'write'))).toEqual(['whoAmI', 'push']);
    expect(await call(url, {}, 'whoAmI')).toMatchObject({ status: 401 });
    expect(await call(url, bearer('ada', 'write'), 'push')).toMatchObject({ status: 403 });
    const unreachable = log.warnings.filter(line => line.includes('McpModule(gateway)'));
    expect(unreachable).toEqual([expect.stringContaining('"toolScopes.pu*" (write)')]);
  });

  it('hold in 2025 sessions', async () => {
    const url = await startGateway({ toolScopes, auth: { lists: 'allowed' } });
    const headers = bearer('ada', 'git');
    const session = await openSession(url, headers);
    const send = (method: string, params = {}) =>
      ask({ url, era: 'legacy', headers, session }, method, params);
    expect((await send('tools/list')).result).toEqual({
      tools: [expect.objectContaining({ name: 'whoAmI' })],
    });
    expect(await send('tools/call', { name: 'push' })).toMatchObject({ status: 403 });
    expect(await send('tools/call', { name: 'whoAmI' })).toMatchObject({ status: 200 });
  });

  it('leave other tools to anonymous callers, and lists as they are', async () => {
    const auth = { anonymous: true, lists: 'all' } as const;
    const url = await startGateway({ toolScopes: { push: ['write'] }, auth });
    expect(await list(url, {})).toEqual(['whoAmI', 'push']);
    expect((await call(url, {}, 'whoAmI')).status).toBe(200);
    expect((await call(url, {}, 'push')).status).toBe(401);
  });

  it('hold for names that interceptors make', async () => {
    @Injectable()
    class Redirect {
      @Mutator({ events: ['tools/call'], scope: { allow: ['/name'] } })
      redirect({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
        return payload.name === 'whoAmI' ? { ...payload, name: 'push' } : undefined;
      }
    }
    const url = await startGateway({ toolScopes: { push: ['write'] }, providers: [Redirect] });
    expect(await call(url, bearer('ada'), 'whoAmI')).toMatchObject({ status: 403 });
    expect(textIn(await call(url, bearer('ada', 'write'), 'whoAmI'))).toBe('pushed');
  });

  it.each<[Gateway, string]>([
    [
      { toolScopes, auth: false },
      'it has "toolScopes", but no module checks the tokens of the server "gateway"',
    ],
    [{ toolScopes: { push: [] } }, '"toolScopes.push" must be a list of scopes, with at least one'],
    [{ toolScopes: { push: ['a b'] } }, '"toolScopes.push[0]" must'],
  ])('%j stop the start', async (options, problem) => {
    await expect(startGateway(options)).rejects.toThrow(problem);
  });
});
