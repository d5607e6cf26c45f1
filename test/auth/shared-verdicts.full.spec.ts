import { Injectable, VersioningType, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import {
  guardVerifier,
  InvalidTokenError,
  jwtVerifier,
  McpAuthModule,
  type McpAuthOptions,
  type TokenVerifier,
} from 'nestjs-mcp/auth';
import { deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp } from '../fixtures/matrix.js';
import { exchange } from '../fixtures/raw-http.js';
import { bearer, trusting } from './callers.js';
import { Issuer } from './issuer.js';
import { ask } from './raw-caller.js';

@Injectable()
class Tools {
  @Tool()
  open() {
    return 'opened';
  }
}

/** The tenant in the path of a request. */
const tenantOf = (request: object) => (request as { url: string }).url.split('/')[1];

const headerOf = (request: object, name: string) =>
  (request as { headers: Record<string, string | undefined> }).headers[name];

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
};

describe('the verdict about a request', () => {
  const closing: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    await Promise.all(closing.splice(0).map(one => one.close()));
  });

  const start = async (
    verifier: TokenVerifier,
    { http = {}, ...options }: Partial<McpAuthOptions> & { http?: object } = {},
  ) => {
    const app = await startApp([Tools], {
      mcp: { http },
      module: {
        imports: [
          McpAuthModule.forRoot({
            authorizationServers: ['https://login.example'],
            verifier,
            ...options,
          }),
        ],
      },
    });
    closing.push(app);
    return (path: string, headers: Record<string, string>) =>
      app
        .url(path)
        .then(url => ask({ url, era: 'modern', headers }, 'tools/call', { name: 'open' }))
        .then(({ status }) => status);
  };

  /** Whoever is in a tenant may use it alone. */
  const byTenant: TokenVerifier = {
    async verifyAccessToken(token, context) {
      const caller = await trusting.verifyAccessToken(token, context);
      if (caller.extra!['sub'] !== tenantOf(context.request)) throw new InvalidTokenError('Another tenant');
      return caller;
    },
  };

  it.each([undefined, 'https://shop.example/mcp'])(
    'opens no other path, and closes none, with the resource %s',
    async resource => {
      const call = await start(byTenant, { resource, http: { path: '/:tenant/mcp' } });
      expect(await call('/b/mcp', bearer('a'))).toBe(401);
      expect(await call('/a/mcp', bearer('a'))).toBe(200);
      expect(await call('/b/mcp', bearer('a'))).toBe(401);
    },
  );

  it.each([byTenant, undefined])(
    'is not one about the path that a parser would make of it',
    async verifier => {
      const issuer = await Issuer.start();
      closing.push(issuer);
      const app = await startApp([Tools], {
        mcp: { http: { path: '/*tenant/mcp' } },
        module: {
          imports: [
            McpAuthModule.forRoot({
              authorizationServers: ['https://login.example'],
              verifier: verifier ?? jwtVerifier(issuer.options),
            }),
          ],
        },
      });
      closing.push(app);
      const { origin, host } = new URL(await app.url());
      const call = async (path: string, headers: Record<string, string>) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE });
        const { status } = await exchange(origin, {
          path,
          headers: {
            host,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'content-length': String(body.length),
            ...headers,
          },
          body,
        });
        return status;
      };
      // The application takes the first segment for the tenant.
      const own = verifier
        ? bearer('a')
        : { authorization: `Bearer ${await issuer.token({ aud: `${origin}/b/mcp` })}` };
      expect(await call('/a/../b/mcp', own)).toBe(verifier ? 200 : 401);
      expect(await call('/b/mcp', own)).toBe(verifier ? 401 : 200);
    },
  );

  it('holds for requests with the same key of the verifier', async () => {
    const verifyAccessToken = jest.fn<ReturnType<TokenVerifier['verifyAccessToken']>, never>(
      (...args: Parameters<TokenVerifier['verifyAccessToken']>) => trusting.verifyAccessToken(...args),
    );
    const call = await start({
      verifyAccessToken,
      cacheKey: request => headerOf(request, 'x-device') ?? '',
    });
    for (const device of ['phone', 'desk', 'phone']) {
      expect(await call('/mcp', { ...bearer('ada'), 'x-device': device })).toBe(200);
    }
    expect(verifyAccessToken).toHaveBeenCalledTimes(2);
  });

  class Paired implements CanActivate {
    asked = 0;

    canActivate(context: ExecutionContext) {
      this.asked += 1;
      const request = context.switchToHttp().getRequest<{ user: object }>();
      request.user = { sub: 'ada' };
      return headerOf(request, 'x-device') === 'paired';
    }
  }

  const pairedWith = (guard: Paired, options?: Parameters<typeof guardVerifier>[2]) =>
    guardVerifier(
      guard,
      (user: { sub: string }, token) => ({
        token,
        clientId: 'desk',
        scopes: [],
        expiresAt: Date.now() / 1000 + 300,
        extra: user,
      }),
      options,
    );

  it.each([undefined, { cacheable: undefined }])(
    'is made by a guard for each request, with %j',
    async caching => {
      const call = await start(pairedWith(new Paired(), caching));
      expect(await call('/mcp', { ...bearer('ada'), 'x-device': 'paired' })).toBe(200);
      expect(await call('/mcp', bearer('ada'))).toBe(401);
      expect(await call('/mcp', { ...bearer('ada'), 'x-device': 'paired' })).toBe(200);
    },
  );

  it('is made once by a guard that looks at the token alone', async () => {
    const guard = new Paired();
    const call = await start(pairedWith(guard, { cacheable: true }));
    for (const _ of [1, 2]) expect(await call('/mcp', { ...bearer('ada'), 'x-device': 'paired' })).toBe(200);
    expect(guard.asked).toBe(1);
  });

  it.each([
    ['without the cache', {}, { tokenCacheMs: 0 }],
    ['that is not cacheable', { cacheable: false }, {}],
  ])('is not shared with a request at the same time, %s', async (_what, traits, options) => {
    const both = deferred();
    let running = 0;
    const call = await start(
      {
        ...traits,
        async verifyAccessToken(token, context) {
          running += 1;
          if (running === 2) both.resolve();
          await both.promise;
          return trusting.verifyAccessToken(token, context);
        },
      },
      options,
    );
    const statuses = await Promise.all([call('/mcp', bearer('ada')), call('/mcp', bearer('ada'))]);
    expect(statuses).toEqual([200, 200]);
  });
});

describe('without a resource', () => {
  const closing: { close(): Promise<unknown> }[] = [];
  let issuer: Issuer;
  beforeAll(async () => {
    issuer = await Issuer.start();
  });
  afterEach(() => Promise.all(closing.splice(0).map(one => one.close())));
  afterAll(() => issuer.close());

  const start = async (verifier: TokenVerifier, http: object = {}) => {
    const log = new LogSpy();
    const app = await startApp([Tools], {
      mcp: { http },
      configure: app => {
        app.useLogger(log);
        app.enableVersioning({ type: VersioningType.URI });
      },
      module: {
        imports: [McpAuthModule.forRoot({ authorizationServers: [issuer.url], verifier })],
      },
    });
    closing.push(app);
    const { origin } = new URL(await app.url());
    return { log, origin };
  };

  const call = async (url: string, token: string) =>
    (await ask({ url, era: 'modern', headers: { authorization: `Bearer ${token}` } }, 'tools/list')).status;

  it('the audience is the resource that the metadata of the request names', async () => {
    const { origin } = await start(jwtVerifier(issuer.options), { path: '/:tenant/mcp' });
    const token = await issuer.token({ aud: `${origin}/a/mcp` });
    expect(await call(`${origin}/a/mcp`, token)).toBe(200);
    expect(await call(`${origin}/b/mcp`, token)).toBe(401);
    expect(await call(`${origin}/a/mcp`, await issuer.token())).toBe(401);
  });

  it('a verified resource is compared with it, too', async () => {
    let resource: URL | undefined;
    const { origin } = await start({
      cacheable: false,
      verifyAccessToken: async (token, context) => ({
        ...(await trusting.verifyAccessToken(token, context)),
        resource,
      }),
    });
    for (const [named, status] of [
      ['https://other.example/mcp', 401],
      [`${origin}/mcp`, 200],
      [`${origin}/mcp/`, 200],
    ] as const) {
      resource = new URL(named);
      expect(await call(`${origin}/mcp`, bearer('ada').authorization.slice(7))).toBe(status);
    }
  });

  it('a token for one path of an endpoint is good for its other paths', async () => {
    const { log, origin } = await start(jwtVerifier(issuer.options), { version: ['1', '2'] });
    const token = await issuer.token({ aud: `${origin}/v1/mcp` });
    expect(await call(`${origin}/v2/mcp`, token)).toBe(200);
    expect(await call(`${origin}/v1/mcp`, await issuer.token({ aud: `${origin}/v2/mcp` }))).toBe(200);
    expect(await call(`${origin}/v1/mcp`, await issuer.token({ aud: `${origin}/v3/mcp` }))).toBe(401);
    expect(log.warnings.at(-1)).toContain(`but must be "${origin}/v1/mcp" or "${origin}/v2/mcp";`);
  });

  it.each([
    ['the port of the server', (port: string) => `127.0.0.1:${port}`, 200, 200],
    ['no port', () => '127.0.0.1', 200, 200],
    // A mapped port, or one that a caller chooses.
    ['another port', () => '127.0.0.1:1', 400, 401],
  ])('with %s in its host, a request gets metadata if its URL is accepted as audience', async (...row) => {
    const [, hostAt, found, status] = row;
    const { log, origin } = await start(jwtVerifier(issuer.options));
    const host = hostAt(new URL(origin).port);
    const place = { method: 'GET', path: '/.well-known/oauth-protected-resource/mcp', headers: { host } };
    for (const _ of [1, 2]) {
      const { status: answered, body } = await exchange(origin, place);
      expect(answered).toBe(found);
      if (found === 200) expect(JSON.parse(body)).toMatchObject({ resource: `http://${host}/mcp` });
    }
    const warnings = log.warnings.filter(line => line.includes('port 1,'));
    expect(warnings).toEqual(
      found === 200 ? [] : [expect.stringContaining('set "resource" of McpAuthModule to the public URL')],
    );
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE });
    const answer = await exchange(origin, {
      path: '/mcp',
      headers: {
        host,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': String(body.length),
        authorization: `Bearer ${await issuer.token({ aud: `http://${host}/mcp` })}`,
      },
      body,
    });
    expect(answer.status).toBe(status);
  });

  it('a warning at start in production names the option', async () => {
    const kept = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = 'production';
    try {
      const { log } = await start(trusting);
      expect(log.warnings).toEqual(
        expect.arrayContaining([
          expect.stringContaining('"resource" of McpAuthModule is not set for the server "test"'),
        ]),
      );
    } finally {
      process.env['NODE_ENV'] = kept;
    }
  });

  it('the host is checked before the token', async () => {
    const verifyAccessToken = jest.fn();
    const { origin } = await start({ verifyAccessToken });
    const { status } = await exchange(origin, {
      path: '/mcp',
      headers: {
        host: 'evil.example',
        'content-type': 'application/json',
        'content-length': '2',
        ...bearer('ada'),
      },
      body: '{}',
    });
    expect(status).toBe(403);
    expect(verifyAccessToken).not.toHaveBeenCalled();
  });

  it('a server of any host does not start', () =>
    expect(start(trusting, { allowedHosts: '*' })).rejects.toThrow(
      'McpAuthModule: "resource" must be set, because "http.allowedHosts" of the server "test" is "*"; otherwise callers choose the audience of tokens',
    ));
});
