import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Injectable, UnauthorizedException } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import {
  guardVerifier,
  introspectionVerifier,
  jwtVerifier,
  McpAuthModule,
  type McpAuthOptions,
  type TokenVerifier,
} from 'nestjs-mcp/auth';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp } from '../fixtures/matrix.js';
import { Issuer, RESOURCE } from './issuer.js';
import { ask, openSession } from './raw-caller.js';

@Injectable()
class Tools {
  @Tool()
  makeAdmin(@Ctx() { authInfo }: McpContext) {
    const { realm } = authInfo!.extra as { realm: { roles: string[] } };
    Reflect.set(authInfo!.extra!, 'sub', 'root');
    Reflect.set(realm.roles, realm.roles.length, 'admin');
    return realm.roles.join(' ');
  }

  @Tool()
  whoAmI(@Ctx() { authInfo, request }: McpContext) {
    const { user } = request as { user?: { sub?: string } };
    return [authInfo?.clientId, authInfo?.extra?.['sub'], user?.sub, authInfo?.scopes.join(' ')].join(', ');
  }
}

describe('a verifier', () => {
  const closing: { close(): Promise<unknown> }[] = [];
  const log = new LogSpy();
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(closing.splice(0).map(one => one.close()));
  });

  const start = async (
    verifier: TokenVerifier,
    options: Partial<McpAuthOptions> = {},
    providers: never[] = [],
  ) => {
    const app = await startApp([Tools], {
      module: {
        providers,
        imports: [
          McpAuthModule.forRoot({
            resource: RESOURCE,
            authorizationServers: ['https://login.example'],
            verifier,
            ...options,
          }),
        ],
      },
      configure: app => app.useLogger(log),
    });
    closing.push(app);
    return app.url();
  };

  const issuerOf = async () => {
    const issuer = await Issuer.start();
    closing.push(issuer);
    return issuer;
  };

  const call = async (url: string, token: string, name = 'whoAmI') => {
    const headers = { authorization: `Bearer ${token}` };
    const { status, result } = await ask({ url, era: 'modern', headers }, 'tools/call', { name });
    return result ? (result['content'] as { text: string }[])[0].text : status;
  };

  describe('of JSON Web Tokens', () => {
    it.each([
      [{ scope: 'a b' }, 'desk, ada, ada, a b'],
      [{ scp: 'a b' }, 'desk, ada, ada, a b'],
      [{ scp: ['a', 'b'] }, 'desk, ada, ada, a b'],
      [{ client_id: undefined, azp: 'app' }, 'app, ada, ada, '],
      [{ sub: undefined }, 'desk, desk, desk, '],
      [{ aud: ['https://other.example', `${RESOURCE}/`] }, 'desk, ada, ada, '],
    ])('reads %j', async (claims, caller) => {
      const issuer = await issuerOf();
      const url = await start(jwtVerifier(issuer.options));
      expect(await call(url, await issuer.token(claims))).toBe(caller);
    });

    it('keep the session of a client without a subject, however many scopes they have', async () => {
      const issuer = await issuerOf();
      const url = await start(jwtVerifier(issuer.options));
      const tokenOf = (client: string, more: object) =>
        issuer.token({ sub: undefined, client_id: client, ...more });
      const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });
      const narrow = await tokenOf('desk', { scope: 'a', sid: '1', aio: 'x' });
      const session = await openSession(url, headersOf(narrow));
      const statusOf = async (token: string) =>
        (await ask({ url, era: 'legacy', session, headers: headersOf(token) }, 'tools/list')).status;
      expect(await statusOf(await tokenOf('desk', { scope: 'a b', sid: '2', aio: 'y' }))).toBe(200);
      expect(await statusOf(await tokenOf('other', { scope: 'a', sid: '1', aio: 'x' }))).toBe(404);
    });

    it('takes those of several issuers, each with its own keys', async () => {
      const [one, other] = [await issuerOf(), await issuerOf()];
      const url = await start(jwtVerifier([one.options, { ...other.options, audience: 'theirs' }]));
      expect(await call(url, await one.token())).toBe('desk, ada, ada, ');
      expect(await call(url, await other.token({ aud: 'theirs' }))).toBe('desk, ada, ada, ');
      expect(await call(url, await other.token())).toBe(401);
      expect(await call(url, await one.token({ aud: 'theirs' }))).toBe(401);
      expect(await call(url, await one.token({ iss: other.url, aud: 'theirs' }))).toBe(401);
    });

    it('verifies a token once while it is cached, and not again if it is asked for at the same time', async () => {
      const issuer = await issuerOf();
      const verifier = jwtVerifier(issuer.options);
      const verify = jest.spyOn(verifier, 'verifyAccessToken');
      const url = await start(verifier);
      const token = await issuer.token();
      await Promise.all([call(url, token), call(url, token)]);
      expect(await call(url, token)).toBe('desk, ada, ada, ');
      expect(verify).toHaveBeenCalledTimes(1);
    });

    it('does not keep a token without the cache', async () => {
      const issuer = await issuerOf();
      const verifier = jwtVerifier(issuer.options);
      const verify = jest.spyOn(verifier, 'verifyAccessToken');
      const url = await start(verifier, { tokenCacheMs: 0 });
      const token = await issuer.token();
      await call(url, token);
      await call(url, token);
      expect(verify).toHaveBeenCalledTimes(2);
    });

    it.each(['fails', 'hangs'] as const)(
      'answers 503 while no keys are known and the issuer %s',
      async mode => {
        const issuer = await issuerOf();
        issuer.mode = mode;
        const url = await start(jwtVerifier({ ...issuer.options, timeoutMs: 50 }));
        const headers = { authorization: `Bearer ${await issuer.token()}` };
        const reply = await ask({ url, era: 'modern', headers }, 'tools/list');
        expect(reply).toMatchObject({ status: 503, challenge: null });
        issuer.mode = 'answers';
        jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000);
        expect(await call(url, await issuer.token())).toBe('desk, ada, ada, ');
      },
    );

    it('answers 503 to all while the issuer has no keys', async () => {
      const issuer = await issuerOf();
      const keys = issuer.keys.splice(0);
      const url = await start(jwtVerifier(issuer.options));
      expect(await call(url, await issuer.token())).toBe(503);
      issuer.keys.push(...keys);
      // jose asks for keys again after 30 seconds.
      const now = Date.now();
      jest.spyOn(Date, 'now').mockReturnValue(now + 60_000);
      jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
      expect(await call(url, await issuer.token())).toBe('desk, ada, ada, ');
    });

    it('tolerates as much as it is told', async () => {
      const issuer = await issuerOf();
      const url = await start(jwtVerifier({ ...issuer.options, clockToleranceSeconds: 30 }));
      const now = Math.floor(Date.now() / 1000);
      expect(await call(url, await issuer.token({ exp: now - 15 }))).toBe('desk, ada, ada, ');
      expect(await call(url, await issuer.token({ exp: now - 40 }))).toBe(401);
    });

    it('goes on with the keys that it knows while the issuer fails', async () => {
      const issuer = await issuerOf();
      const url = await start(jwtVerifier({ ...issuer.options, timeoutMs: 50 }), { tokenCacheMs: 0 });
      expect(await call(url, await issuer.token())).toBe('desk, ada, ada, ');
      issuer.mode = 'hangs';
      jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
      const exp = Math.floor(Date.now() / 1000) + 300;
      const later = await issuer.token({ exp });
      const unknown = await issuer.token({ exp }, 'two');
      // The keys are too old by now, so that they are asked for again.
      const fetched = issuer.fetched;
      expect(await call(url, later)).toBe('desk, ada, ada, ');
      expect(issuer.fetched).toBe(fetched + 1);
      expect(await call(url, unknown)).toBe(401);
    });
  });

  describe('that asks the authorization server', () => {
    let answer: { status?: number; claims?: object };
    const asked: { authorization?: string; body: string }[] = [];

    const endpoint = async () => {
      const server: Server = createServer((request, response) => {
        void text(request).then(body => {
          asked.push({ authorization: request.headers.authorization, body });
          response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(answer.claims ?? {}));
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      closing.push({ close: async () => (server.closeAllConnections(), server.close()) });
      return start(
        introspectionVerifier({
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect`,
          clientId: 'shop',
          clientSecret: 'a:b',
        }),
      );
    };

    const good = { active: true, aud: RESOURCE, sub: 'ada', client_id: 'desk', scope: 'a' };
    const exp = () => Math.floor(Date.now() / 1000) + 300;

    it('takes what is active, and asks once', async () => {
      const url = await endpoint();
      answer = { claims: { ...good, exp: exp() } };
      asked.splice(0);
      expect(await call(url, 'opaque')).toBe('desk, ada, ada, a');
      expect(await call(url, 'opaque')).toBe('desk, ada, ada, a');
      const basic = `Basic ${Buffer.from('shop:a%3Ab').toString('base64')}`;
      expect(asked).toEqual([{ authorization: basic, body: 'token=opaque&token_type_hint=access_token' }]);
    });

    it.each([
      ['is not active', { ...good, active: false }],
      ['is for another', { ...good, aud: 'https://other.example' }],
      ['does not say for whom it is', { ...good, aud: undefined }],
      ['is a refresh token', { ...good, token_type: 'refresh_token' }],
      ['is used as a refresh token', { ...good, token_type: 'Bearer', token_use: 'refresh_token' }],
      ['is bound to a key', { ...good, cnf: { jkt: 'a-thumbprint' } }],
      ['is not valid yet', { ...good, nbf: Math.floor(Date.now() / 1000) + 120 }],
      ['is valid from an unknown time', { ...good, nbf: 'soon' }],
    ])('refuses what %s', async (_what, claims) => {
      const url = await endpoint();
      answer = { claims: { ...claims, exp: exp() } };
      expect(await call(url, 'opaque')).toBe(401);
    });

    it.each([
      { token_type: 'Bearer' },
      { token_type: 'bearer', token_use: 'access_token' },
      { token_type: 'access_token' },
      { nbf: Math.floor(Date.now() / 1000) },
    ])('takes what is %j', async more => {
      const url = await endpoint();
      answer = { claims: { ...good, ...more, exp: exp() } };
      expect(await call(url, 'opaque')).toBe('desk, ada, ada, a');
    });

    it('takes what does not say when it expires, and asks again after a minute', async () => {
      const url = await endpoint();
      answer = { claims: good };
      asked.splice(0);
      expect(await call(url, 'opaque')).toBe('desk, ada, ada, a');
      expect(await call(url, 'opaque')).toBe('desk, ada, ada, a');
      const now = performance.now();
      jest.spyOn(performance, 'now').mockReturnValue(now + 60_001);
      answer = { claims: { active: false } };
      // The cache looks at the clock once in a millisecond.
      while (asked.length === 1) await call(url, 'opaque');
      expect(await call(url, 'opaque')).toBe(401);
    });

    it.each(['soon', null, Infinity])('refuses what expires at %j', async exp => {
      const url = await endpoint();
      answer = { claims: { ...good, exp: exp === Infinity ? '1e999' : exp } };
      expect(await call(url, 'opaque')).toBe(401);
    });

    it('refuses what has expired, though it is active', async () => {
      const url = await endpoint();
      answer = { claims: { ...good, exp: exp() - 320 } };
      expect(await call(url, 'opaque')).toBe(401);
    });

    it('answers 503 if it fails', async () => {
      const url = await endpoint();
      answer = { status: 500 };
      expect(await call(url, 'opaque')).toBe(503);
    });
  });

  describe('of the application', () => {
    const exp = () => Math.floor(Date.now() / 1000) + 300;
    const jwt = new JwtService({ secret: 'a secret of the application' });

    it('finds a caller whose claims no handler can change', async () => {
      const claims = { sub: 'ada', realm: { roles: ['user'] } };
      const url = await start({
        verifyAccessToken: token =>
          Promise.resolve({ token, clientId: 'desk', scopes: [], expiresAt: exp(), extra: claims }),
      });
      expect(await call(url, 'a-token', 'makeAdmin')).toBe('user');
      expect(await call(url, 'a-token', 'makeAdmin')).toBe('user');
      // What the verifier keeps for itself stays as it is.
      expect(Object.isFrozen(claims.realm)).toBe(false);
    });

    it('is the JwtService of @nestjs/jwt', async () => {
      const url = await start({
        async verifyAccessToken(token) {
          const { sub, exp } = await jwt.verifyAsync<{ sub: string; exp: number }>(token, {
            audience: RESOURCE,
          });
          return { token, clientId: 'desk', scopes: [], expiresAt: exp, extra: { sub } };
        },
      });
      const claims = { sub: 'ada', aud: RESOURCE, exp: exp() };
      expect(await call(url, jwt.sign(claims))).toBe('desk, ada, ada, ');
      expect(await call(url, jwt.sign({ ...claims, aud: 'other' }))).toBe(401);
      expect(await call(url, jwt.sign({ ...claims, exp: exp() - 600 }))).toBe(401);
    });

    it('is jose', async () => {
      const issuer = await issuerOf();
      const stranger = await issuerOf();
      const { jwksUri } = issuer.options;
      const keys = createRemoteJWKSet(new URL(jwksUri));
      const url = await start({
        async verifyAccessToken(token) {
          const { payload } = await jwtVerify(token, keys, { audience: RESOURCE, issuer: issuer.url });
          return { token, clientId: 'desk', scopes: [], expiresAt: payload.exp, extra: { sub: payload.sub } };
        },
      });
      expect(await call(url, await issuer.token())).toBe('desk, ada, ada, ');
      expect(await call(url, await issuer.token({ exp: exp() - 600 }))).toBe(401);
      expect(await call(url, await issuer.token({ aud: 'other' }))).toBe(401);
      expect(await call(url, await issuer.token({}, 'two'))).toBe(401);
      expect(await call(url, await stranger.token({ iss: issuer.url }))).toBe(401);
      expect(await call(url, 'junk')).toBe(401);
    });

    it('is a guard of @nestjs/passport', async () => {
      @Injectable()
      class JwtStrategy extends PassportStrategy(Strategy) {
        constructor() {
          super({
            jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
            secretOrKey: 'a secret of the application',
            audience: RESOURCE,
          });
        }

        validate(claims: object) {
          return { ...claims, isFromPassport: true };
        }
      }
      const verifier = guardVerifier(
        new (AuthGuard('jwt'))(),
        ({ sub, exp }: { sub: string; exp: number }, token) => ({
          token,
          clientId: 'desk',
          scopes: ['a'],
          expiresAt: exp,
          extra: { sub },
        }),
      );
      const url = await start(verifier, {}, [JwtStrategy as never]);
      const token = jwt.sign({ sub: 'ada', aud: RESOURCE, exp: exp() });
      expect(await call(url, token)).toBe('desk, ada, ada, a');
      expect(await call(url, token)).toBe('desk, ada, ada, a');
      expect(await call(url, jwt.sign({ sub: 'ada', aud: 'other', exp: exp() }))).toBe(401);
    });

    it.each([
      [-20, undefined, 401],
      [-20, 30, 'desk, ada, ada, '],
      [-40, 30, 401],
    ])('takes a token with %i seconds left and a tolerance of %j as %j', async (left, seconds, expected) => {
      const url = await start({
        ...(seconds !== undefined && { clockToleranceSeconds: seconds }),
        verifyAccessToken: token =>
          Promise.resolve({
            token,
            clientId: 'desk',
            scopes: [],
            expiresAt: Date.now() / 1000 + left,
            extra: { sub: 'ada' },
          }),
      });
      expect(await call(url, 'a-token')).toBe(expected);
    });

    it.each([
      ['throws anything else', () => Promise.reject(new Error('the database is down')), 503],
      ['throws an HTTP 401', () => Promise.reject(new UnauthorizedException()), 401],
      ['finds nobody', () => Promise.resolve(undefined as never), 401],
      [
        'finds a token of another resource',
        (token: string) =>
          Promise.resolve({
            token,
            clientId: 'desk',
            scopes: [],
            expiresAt: exp(),
            resource: new URL('https://other.example'),
          }),
        401,
      ],
    ])('%s', async (_what, verifyAccessToken, status) => {
      log.errors.splice(0);
      const url = await start({ verifyAccessToken });
      expect(await call(url, 'a-token-of-mine')).toBe(status);
      expect(log.errors.join()).not.toContain('a-token-of-mine');
    });
  });

  it('takes no algorithm with a shared secret', () => {
    const options = { issuer: 'https://login.example', jwksUri: 'https://login.example/jwks' };
    expect(() => jwtVerifier({ ...options, algorithms: ['HS256' as never] })).toThrow(
      'jwtVerifier: "algorithms[0]"',
    );
  });
});
