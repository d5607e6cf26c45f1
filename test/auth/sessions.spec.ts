import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, McpServerRegistry, Resource, Tool } from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule } from 'nestjs-mcp/auth';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';
import { bearer, trusting } from './callers.js';
import { ask, listenHeaders, listenMessage, openSession } from './raw-caller.js';

@AllowAnonymous()
@Injectable()
class Tools {
  @Tool()
  whoAmI(@Ctx() { authInfo, request }: McpContext) {
    const { user } = request as { user?: { sub?: string } };
    return `${String(authInfo?.extra?.['sub'])} ${user?.sub}`;
  }

  @Resource({ uri: 'state://a' })
  state() {
    return 'state';
  }
}

describe.each(platforms())('a session of 2025, on %s', platform => {
  let app: TestApp;
  let url: string;

  beforeAll(async () => {
    app = await startApp([Tools], {
      platform,
      forceCloseConnections: true,
      module: {
        imports: [
          McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting }),
        ],
      },
    });
    url = await app.url();
  });

  afterAll(() => app.close());

  const whoAmI = async (session: string, headers?: Record<string, string>) => {
    const { status, result } = await ask({ url, era: 'legacy', headers, session }, 'tools/call', {
      name: 'whoAmI',
    });
    return result ? (result['content'] as { text: string }[])[0].text : status;
  };

  const listen = (session: string, headers?: Record<string, string>) =>
    fetch(url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': session, ...headers },
      signal: AbortSignal.timeout(20_000),
    });

  it('needs the token on every request', async () => {
    const session = await openSession(url, bearer('ada'));
    expect(await whoAmI(session, bearer('ada'))).toBe('ada ada');
    expect(await whoAmI(session)).toBe(404);
    expect(await whoAmI(session, { authorization: 'Bearer bad' })).toBe(401);
    expect(await whoAmI(session, bearer('ada', 'more'))).toBe('ada ada');
  });

  it('is one principal’s alone', async () => {
    const session = await openSession(url, bearer('ada'));
    expect(await whoAmI(session, bearer('grace'))).toBe(404);
    expect((await listen(session, bearer('grace'))).status).toBe(404);
    const ended = await fetch(url, {
      method: 'DELETE',
      headers: { 'mcp-session-id': session, ...bearer('grace') },
    });
    expect(ended.status).toBe(404);
    expect(await whoAmI(session, bearer('ada'))).toBe('ada ada');
  });

  it('that is anonymous becomes the first principal’s', async () => {
    const session = await openSession(url);
    expect(await whoAmI(session)).toBe('undefined undefined');
    expect(await whoAmI(session, { authorization: 'Bearer bad' })).toBe(401);
    expect(await whoAmI(session)).toBe('undefined undefined');
    expect(await whoAmI(session, bearer('ada'))).toBe('ada ada');
    expect(await whoAmI(session)).toBe(404);
    expect(await whoAmI(session, bearer('grace'))).toBe(404);
  });

  it.each(['GET', 'subscriptions/listen'])('has no stream (%s) that outlives its token', async what => {
    const verify = trusting.verifyAccessToken.bind(trusting);
    const short = jest.spyOn(trusting, 'verifyAccessToken');
    short.mockImplementation(async (...sent) => ({
      ...(await verify(...sent)),
      expiresAt: Date.now() / 1000 + 0.3,
    }));
    const session = await openSession(url, bearer('ada', what));
    const listening =
      what === 'GET'
        ? await listen(session, bearer('ada', what))
        : await fetch(url, {
            method: 'POST',
            headers: listenHeaders(bearer('ada', what)),
            body: JSON.stringify(listenMessage({ toolsListChanged: true })),
            signal: AbortSignal.timeout(20_000),
          });
    short.mockRestore();
    expect(listening.status).toBe(200);
    await expect(listening.text()).rejects.toThrow('terminated');
  });

  it('ends streams that were opened before it had a principal', async () => {
    const session = await openSession(url);
    const anonymous = await listen(session);
    expect(anonymous.status).toBe(200);
    const subscribed = await ask(
      { url, era: 'legacy', headers: bearer('ada'), session },
      'resources/subscribe',
      {
        uri: 'state://a',
      },
    );
    expect(subscribed.status).toBe(200);
    app.app.get(McpServerRegistry).resourceUpdated('state://a');
    // Its end, without the update.
    expect(await anonymous.text()).not.toContain('resources/updated');
    expect((await listen(session)).status).toBe(404);
    const own = await listen(session, bearer('ada'));
    expect(own.status).toBe(200);
    await own.body?.cancel();
  });
});
