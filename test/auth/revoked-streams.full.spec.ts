import { Injectable } from '@nestjs/common';
import { McpServerRegistry, Resource } from 'nestjs-mcp';
import { InvalidTokenError, McpAuthModule, type TokenVerifier } from 'nestjs-mcp/auth';
import { EventReader } from '../fixtures/event-reader.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { bearer, tokenOf, trusting } from './callers.js';
import { ask, listenHeaders, listenMessage, openSession } from './raw-caller.js';

const URI = 'state://a';

@Injectable()
class States {
  @Resource({ uri: URI })
  state() {
    return 'state';
  }
}

/** How long a verified token is cached, in milliseconds. */
const CACHED_MS = 50;

describe.each(['GET', 'subscriptions/listen'] as const)('a stream that listens (%s)', how => {
  let app: TestApp;
  let url: string;
  const verify = jest.fn<ReturnType<TokenVerifier['verifyAccessToken']>, [string]>();
  const known = (token: string) => trusting.verifyAccessToken(token, {} as never);

  beforeEach(async () => {
    verify.mockReset().mockImplementation(known);
    app = await startApp([States], {
      forceCloseConnections: true,
      module: {
        imports: [
          McpAuthModule.forRoot({
            authorizationServers: ['https://login.example'],
            verifier: { verifyAccessToken: verify, clockToleranceSeconds: 5 },
            tokenCacheMs: CACHED_MS,
          }),
        ],
      },
    });
    url = await app.url();
  });

  afterEach(() => app.close());

  const listen = async (own?: string) => {
    if (how === 'subscriptions/listen')
      return EventReader.open(
        url,
        listenHeaders(bearer('ada')),
        listenMessage({ resourcesListChanged: true }),
      );
    const session = own ?? (await openSession(url, bearer('ada')));
    return EventReader.open(url, {
      ...bearer('ada'),
      accept: 'text/event-stream',
      'mcp-session-id': session,
      'mcp-protocol-version': '2025-11-25',
    });
  };

  /** Waits until the cache has forgotten a token. */
  const pastCache = async () => {
    const { length } = verify.mock.calls;
    while (verify.mock.calls.length === length) {
      await ask({ url, era: 'modern', headers: bearer('ada') }, 'resources/list');
    }
  };

  /** Waits until the token was verified so many times more. */
  const verified = async (count: number) => {
    const { length } = verify.mock.calls;
    while (verify.mock.calls.length < length + count) await new Promise(resolve => setImmediate(resolve));
  };

  const tellOfChange = () => app.app.get(McpServerRegistry).disable('resource', URI);
  const isChange = ({ method }: Record<string, unknown>) => method === 'notifications/resources/list_changed';

  it('ends when its token is revoked', async () => {
    const stream = await listen();
    expect(stream.status).toBe(200);
    await verified(2);
    verify.mockRejectedValue(new InvalidTokenError('It is not active'));
    await stream.messages();
    expect(verify).toHaveBeenLastCalledWith(tokenOf('ada'), expect.anything());
  });

  it('goes on while its token cannot be verified, until the token expires', async () => {
    const expiresAt = Date.now() / 1000 + 0.8;
    verify.mockImplementation(async token => ({ ...(await known(token)), expiresAt }));
    const stream = await listen();
    verify.mockRejectedValue(new Error('The issuer is down'));
    await verified(2);
    tellOfChange();
    expect((await stream.messages()).filter(isChange)).toHaveLength(1);
    expect(Date.now() / 1000).toBeGreaterThanOrEqual(expiresAt);
  });

  it('goes on with the expiry of the latest verification', async () => {
    const sliding = async (token: string) => ({
      ...(await known(token)),
      expiresAt: Date.now() / 1000 + 0.3,
    });
    verify.mockImplementation(sliding);
    const stream = await listen();
    // Longer than the first expiry.
    await verified(8);
    tellOfChange();
    for (let next = await stream.message(); !isChange(next!.message);) next = await stream.message();
    stream.cut();
  });

  it('is refused to a token that only the tolerance of the clocks keeps', async () => {
    const session = await openSession(url, bearer('ada'));
    const expired = async (token: string) => ({ ...(await known(token)), expiresAt: Date.now() / 1000 - 3 });
    verify.mockImplementation(expired);
    await pastCache();
    const headers = { ...bearer('ada'), 'mcp-session-id': session };
    const called = await ask({ url, era: 'legacy', session, headers }, 'resources/read', { uri: URI });
    expect(called.status).toBe(200);
    expect((await listen(session)).status).toBe(401);
  });
});
