import { Injectable, RequestMethod, VersioningType, type INestApplication } from '@nestjs/common';
import { McpModule, Tool } from 'nestjs-mcp';
import { McpAuthModule, type McpAuthOptions } from 'nestjs-mcp/auth';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';
import { exchange } from '../fixtures/raw-http.js';
import { trusting } from './callers.js';

@Injectable()
class Tools {
  @Tool()
  open() {
    return 'opened';
  }
}

const PLACE = '/.well-known/oauth-protected-resource';

const protect = (options: Partial<McpAuthOptions> = {}) =>
  McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting, ...options });

/** The other platforms of the tests read no forwarded headers. */
const trustProxy = (app: INestApplication) => {
  const adapter = app.getHttpAdapter();
  if (adapter.getType() === 'express')
    (adapter.getInstance() as { set(...values: unknown[]): void }).set('trust proxy', true);
};

describe.each(platforms())('metadata of a protected resource, on %s', platform => {
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));

  const start = async (
    imports: readonly ReturnType<typeof protect>[],
    { path = '/mcp', configure }: { path?: string; configure?: (app: INestApplication) => void } = {},
  ) => {
    const app = await startApp([Tools], {
      platform,
      mcp: { http: { path } },
      module: { imports: [...imports] },
      configure,
    });
    apps.push(app);
    return new URL(await app.url('/')).origin;
  };

  const resourceAt = async (url: string) => {
    const response = await fetch(url);
    return response.ok ? ((await response.json()) as { resource: string }).resource : response.status;
  };

  const challengedWith = async (url: string) => {
    const { headers } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    return /resource_metadata="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1];
  };

  it('says what a client needs, at both places, to any page', async () => {
    const origin = await start(
      [
        protect({
          resource: 'HTTPS://Shop.Example/mcp',
          scopesSupported: ['read', 'offline_access'],
          resourceName: 'The shop',
          resourceDocumentation: 'https://shop.example/docs',
        }),
      ],
      { configure: app => app.enableCors({ origin: 'https://other.example' }) },
    );
    for (const place of [PLACE, `${PLACE}/mcp`]) {
      const response = await fetch(`${origin}${place}`, { headers: { origin: 'https://any.example' } });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(await response.json()).toEqual({
        resource: 'https://shop.example/mcp',
        authorization_servers: ['https://login.example'],
        bearer_methods_supported: ['header'],
        scopes_supported: ['read'],
        resource_name: 'The shop',
        resource_documentation: 'https://shop.example/docs',
      });
      const preflight = await fetch(`${origin}${place}`, {
        method: 'OPTIONS',
        headers: { origin: 'https://any.example', 'access-control-request-method': 'GET' },
      });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    }
    const head = await fetch(`${origin}${PLACE}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(await resourceAt(`${origin}${PLACE}/other`)).toBe(404);
  });

  it('is where the challenge says, under a global prefix and a version', async () => {
    const origin = await start([protect()], {
      configure: app => {
        app.setGlobalPrefix('api', { exclude: [{ path: 'health', method: RequestMethod.GET }] });
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
      },
    });
    const url = await challengedWith(`${origin}/api/v1/mcp`);
    expect(url).toBe(`${origin}${PLACE}/api/v1/mcp`);
    expect(await resourceAt(url!)).toBe(`${origin}/api/v1/mcp`);
    expect(await resourceAt(`${origin}${PLACE}`)).toBe(`${origin}/api/v1/mcp`);
  });

  it('is where the challenge says, for an endpoint with a parameter', async () => {
    const origin = await start([protect()], { path: '/:tenant/mcp' });
    const url = await challengedWith(`${origin}/acme/mcp`);
    expect(url).toBe(`${origin}${PLACE}/acme/mcp`);
    expect(await resourceAt(url!)).toBe(`${origin}/acme/mcp`);
    // The place without a path names no tenant.
    expect(await resourceAt(`${origin}${PLACE}`)).toBe(404);
  });

  it('is where a proxy that takes a prefix away hands it on', async () => {
    const resource = 'https://example.com/shop/mcp';
    const origin = await start([protect({ resource, metadataUrl: `https://example.com/shop${PLACE}/mcp` })]);
    expect(await challengedWith(`${origin}/mcp`)).toBe(`https://example.com/shop${PLACE}/mcp`);
    // A proxy that hands on the place itself does not change it.
    for (const place of [`${PLACE}/shop/mcp`, `${PLACE}/mcp`, PLACE]) {
      expect(await resourceAt(`${origin}${place}`)).toBe(resource);
    }
  });

  it('of several servers is apart, and the first has the root', async () => {
    const admin = McpModule.forRoot({ name: 'admin', version: '1.0.0', http: { path: '/admin/mcp' } });
    const origin = await start([
      admin,
      protect({ server: 'admin', resource: 'https://shop.example/admin/mcp' }),
      protect({ server: 'test', resource: 'https://shop.example/mcp' }),
    ]);
    expect(await resourceAt(`${origin}${PLACE}`)).toBe('https://shop.example/mcp');
    expect(await resourceAt(`${origin}${PLACE}/mcp`)).toBe('https://shop.example/mcp');
    expect(await resourceAt(`${origin}${PLACE}/admin/mcp`)).toBe('https://shop.example/admin/mcp');
  });

  it('guesses from no name that is not the server’s', async () => {
    const origin = await start([protect()]);
    for (const host of ['evil.example', 'evil@127.0.0.1', '127.0.%30.1']) {
      const { status } = await exchange(origin, { method: 'GET', path: PLACE, headers: { host } });
      expect(status).toBe(400);
    }
  });

  it.each(['ht tp', 'javascript', 'https', 'HTTPS'])('survives a proxy that forwards %j', async proto => {
    const origin = await start([protect()], { configure: trustProxy });
    const forwarded = { host: new URL(origin).host, 'x-forwarded-proto': proto };
    const at = (method: string, path: string) =>
      exchange(origin, {
        method,
        path,
        headers: { ...forwarded, 'content-type': 'application/json', 'content-length': '2' },
        body: '{}',
      });
    const isHttps = proto.toLowerCase() === 'https' && platform === 'express';
    const expected = isHttps ? origin.replace('http:', 'https:') : origin;
    const challenged = await at('POST', '/mcp');
    expect([challenged.status, challenged.headers['www-authenticate']]).toEqual([
      401,
      `Bearer resource_metadata="${expected}${PLACE}/mcp"`,
    ]);
    const { status, body } = await at('GET', PLACE);
    expect([status, JSON.parse(body)]).toEqual([
      200,
      expect.objectContaining({ resource: `${expected}/mcp` }),
    ]);
  });

  it.each(['a"b', 'a\\b', 'a b', 'a\r\nx: y', ''])('does not start with the scope %j', scope =>
    expect(start([protect({ scopesSupported: ['read', scope] })])).rejects.toThrow(
      'McpAuthModule: "scopesSupported[1]" must be a scope',
    ),
  );

  it('does not start with one resource for two servers', () => {
    const admin = McpModule.forRoot({ name: 'admin', version: '1.0.0', http: { path: '/admin/mcp' } });
    return expect(start([admin, protect({ resource: 'https://shop.example/mcp' })])).rejects.toThrow(
      'McpAuthModule: "resource" is the URL of one server, but "test" and "admin" are protected',
    );
  });
});
