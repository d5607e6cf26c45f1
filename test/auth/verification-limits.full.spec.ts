import { Injectable } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Tool } from 'nestjs-mcp';
import { InvalidTokenError, jwtVerifier, McpAuthModule, type TokenVerifier } from 'nestjs-mcp/auth';
import { deferred } from '../fixtures/deferred.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { bearer, trusting } from './callers.js';
import { Issuer, RESOURCE } from './issuer.js';
import { ask, openSession } from './raw-caller.js';

@Injectable()
class Tools {
  @Tool()
  open() {
    return 'opened';
  }
}

describe('the verification of tokens', () => {
  const closing: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(closing.splice(0).map(one => one.close()));
  });

  const start = async (verifier: TokenVerifier, calls = {}, options = {}): Promise<TestApp> => {
    const app = await startApp([Tools], {
      mcp: { calls },
      configure: app => (app as NestExpressApplication).set('trust proxy', true),
      module: {
        imports: [
          McpAuthModule.forRoot({
            resource: RESOURCE,
            authorizationServers: ['https://login.example'],
            verifier,
            ...options,
          }),
        ],
      },
    });
    closing.push(app);
    return app;
  };

  const call = (url: string, headers: Record<string, string>) =>
    ask({ url, era: 'modern', headers }, 'tools/call', { name: 'open' });
  const statusOf = async (url: string, token: string) =>
    (await call(url, { authorization: `Bearer ${token}` })).status;

  it.each([
    ['of one address', { maxPerCaller: 3 }, 429],
    ['of the server', { max: 3, maxPerCaller: 4 }, 503],
  ])('counts as a call in the cap %s', async (_what, caps, status) => {
    const slow = deferred();
    let running = 0;
    const verifyAccessToken = jest.fn<Promise<never>, [string]>(async token => {
      running += 1;
      if (running === 3) reached.resolve();
      await slow.promise;
      return trusting.verifyAccessToken(token, {} as never) as never;
    });
    const reached = deferred();
    const url = await (await start({ verifyAccessToken }, caps)).url();
    // Requests with the same token wait for the same verification, but each waits.
    const waiting = ['ada', 'grace', 'joan'].map(name => call(url, bearer(name)));
    await reached.promise;
    const refused = await Promise.all(['ada', 'ruth'].map(name => call(url, bearer(name))));
    expect(refused.map(reply => reply.status)).toEqual([status, status]);
    expect(refused[0].error?.message).toMatch(/^Too many calls/);
    expect(verifyAccessToken).toHaveBeenCalledTimes(3);
    slow.resolve();
    expect((await Promise.all(waiting)).map(reply => reply.status)).toEqual([200, 200, 200]);
    expect((await call(url, bearer('ruth'))).status).toBe(200);
  });

  it.each([
    [30_000, 30_000],
    [0, 60_000],
  ])(
    'that never settles ends, and counts no longer, with calls.timeoutMs of %d',
    async (timeoutMs, endsMs) => {
      const verifyAccessToken = jest.fn(() => new Promise<never>(() => undefined));
      const url = await (await start({ verifyAccessToken }, { timeoutMs, maxPerCaller: 1 })).url();
      const late = jest
        .spyOn(AbortSignal, 'timeout')
        .mockImplementation(() => AbortSignal.abort(new Error('It is late')));
      expect([await statusOf(url, 'slow'), await statusOf(url, 'slow')]).toEqual([503, 503]);
      // The second request did not wait for the verification of the first.
      expect(verifyAccessToken).toHaveBeenCalledTimes(2);
      expect(late.mock.calls).toEqual([[endsMs], [endsMs]]);
    },
  );

  it('does not count a caller whose token is cached', async () => {
    const slow = deferred();
    const reached = deferred();
    const verifyAccessToken: TokenVerifier['verifyAccessToken'] = async (token, context) => {
      if (token === 'slow') {
        reached.resolve();
        await slow.promise;
      }
      return trusting.verifyAccessToken(token, context);
    };
    const url = await (await start({ verifyAccessToken }, { maxPerCaller: 1 })).url();
    const session = await openSession(url, bearer('ada'));
    const waiting = statusOf(url, 'slow');
    await reached.promise;
    expect((await call(url, bearer('ada'))).status).toBe(200);
    expect(session).toEqual(expect.any(String));
    slow.resolve();
    await waiting;
  });

  it('remembers for some seconds what it refused', async () => {
    const verifyAccessToken = jest.fn(() => Promise.reject(new InvalidTokenError('It is not active')));
    const url = await (await start({ verifyAccessToken })).url();
    for (let count = 0; count < 5; count++) expect(await statusOf(url, 'bad')).toBe(401);
    expect(verifyAccessToken).toHaveBeenCalledTimes(1);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 10_000);
    // The cache looks at the clock once in a millisecond.
    while (verifyAccessToken.mock.calls.length === 1) expect(await statusOf(url, 'bad')).toBe(401);
  });

  it('remembers no refusal without the cache, and no failure', async () => {
    const error = { thrown: new Error('The database is down') };
    const verifyAccessToken = jest.fn(() => Promise.reject(error.thrown));
    const cached = await (await start({ verifyAccessToken })).url();
    expect([await statusOf(cached, 'bad'), await statusOf(cached, 'bad')]).toEqual([503, 503]);
    expect(verifyAccessToken).toHaveBeenCalledTimes(2);
    error.thrown = new InvalidTokenError('It is not active');
    const uncached = await (await start({ verifyAccessToken }, {}, { tokenCacheMs: 0 })).url();
    expect([await statusOf(uncached, 'bad'), await statusOf(uncached, 'bad')]).toEqual([401, 401]);
    expect(verifyAccessToken).toHaveBeenCalledTimes(4);
  });

  it('ends for an address for a minute after too many refused tokens', async () => {
    const verifier = { verifyAccessToken: jest.fn(trusting.verifyAccessToken.bind(trusting)) };
    const url = await (await start(verifier, {}, { maxRefusedPerAddress: 2 })).url();
    expect((await call(url, bearer('ada'))).status).toBe(200);
    for (const token of ['bad', 'worse']) {
      expect(await Promise.all([statusOf(url, token), statusOf(url, token)])).toEqual([401, 401]);
    }
    const refused = await call(url, bearer('grace'));
    expect([refused.status, refused.challenge, refused.error]).toEqual([
      429,
      null,
      {
        code: -32000,
        message: 'Too many access tokens of this address were refused; try again later',
      },
    ]);
    expect(verifier.verifyAccessToken).toHaveBeenCalledTimes(3);
    // Cached verdicts cost nothing, and other addresses have their own count.
    expect((await call(url, bearer('ada'))).status).toBe(200);
    expect(await statusOf(url, 'bad')).toBe(401);
    expect((await call(url, { ...bearer('grace'), 'x-forwarded-for': '192.0.2.1' })).status).toBe(200);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 60_001);
    expect((await call(url, bearer('joan'))).status).toBe(200);
  });

  it('goes on for an address that repeats one refused token', async () => {
    const verifier = { cacheable: false, verifyAccessToken: trusting.verifyAccessToken.bind(trusting) };
    const url = await (await start(verifier, {}, { maxRefusedPerAddress: 2 })).url();
    for (let count = 0; count < 3; count++) expect(await statusOf(url, 'bad')).toBe(401);
    expect((await call(url, bearer('ada'))).status).toBe(200);
    // Another token is the last one.
    expect(await statusOf(url, 'worse')).toBe(401);
    expect((await call(url, bearer('ada'))).status).toBe(429);
  });

  it('goes on for an address after failures of the verifier', async () => {
    const error = { thrown: new Error('The database is down') };
    const verifyAccessToken = jest.fn(() => Promise.reject(error.thrown));
    const url = await (await start({ verifyAccessToken }, {}, { maxRefusedPerAddress: 1 })).url();
    for (let count = 0; count < 3; count++) expect(await statusOf(url, 'bad')).toBe(503);
    error.thrown = new InvalidTokenError('It is not active');
    expect([await statusOf(url, 'bad'), await statusOf(url, 'worse')]).toEqual([401, 429]);
  });

  it('keeps verified tokens, however many others are refused', async () => {
    const verifier = { verifyAccessToken: jest.fn(trusting.verifyAccessToken.bind(trusting)) };
    const url = await (await start(verifier, {}, { maxCachedTokens: 1 })).url();
    expect((await call(url, bearer('ada'))).status).toBe(200);
    expect([await statusOf(url, 'bad'), await statusOf(url, 'worse')]).toEqual([401, 401]);
    expect((await call(url, bearer('ada'))).status).toBe(200);
    expect(verifier.verifyAccessToken).toHaveBeenCalledTimes(3);
  });

  it('does not ask an issuer for its first keys with every request', async () => {
    const issuer = await Issuer.start();
    closing.push(issuer);
    issuer.mode = 'fails';
    const url = await (await start(jwtVerifier(issuer.options))).url();
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
    for (let count = 0; count < 5; count++) {
      expect(await statusOf(url, await issuer.token({ jti: `${count}` }))).toBe(503);
    }
    expect(issuer.fetched).toBe(1);
    issuer.mode = 'answers';
    clock.mockReturnValue(now + 2000);
    expect(await statusOf(url, await issuer.token())).toBe(200);
  });
});
