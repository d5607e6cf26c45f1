import type { McpModuleOptions } from 'nestjs-mcp';
import {
  callOf,
  hangUpAs,
  HEADER_GUARD,
  HeldTools,
  INITIALIZE,
  modern,
  sendAs,
  sessionOf,
  type BegunAnswer,
  type LimitedRequest,
} from '../fixtures/limits.js';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';

type Options = Partial<McpModuleOptions>;

/** What a caller can have open. */
interface Kind {
  readonly name: string;
  readonly options: (caps: { max: number; own?: number }) => Options;
  /** How a caller opens one more. */
  readonly request: (test: TestApp, user: string) => LimitedRequest | Promise<LimitedRequest>;
  /** How it ends; the answer hangs up, unless it says something else. */
  readonly end?: (test: TestApp, user: string, answer: BegunAnswer) => Promise<unknown>;
}

const listeners: Kind['options'] = ({ max, own }) => ({
  http: { maxListeners: max, maxListenersPerCaller: own },
});
const calls: Kind['options'] = ({ max, own }) => ({ calls: { max, maxPerCaller: own } });

const endSession: Kind['end'] = async (test, user, { headers }) => {
  const session = { 'mcp-session-id': headers['mcp-session-id'] as string };
  await sendAs(test, user, { method: 'DELETE', headers: session });
};

const KINDS: Kind[] = [
  {
    name: 'sessions',
    options: ({ max, own }) => ({ sessions: { max, maxPerCaller: own } }),
    request: () => INITIALIZE,
    end: endSession,
  },
  {
    name: 'GET streams of sessions',
    options: listeners,
    request: async (test, user) => ({ method: 'GET', headers: await sessionOf(test, user) }),
  },
  {
    name: 'subscriptions/listen streams',
    options: listeners,
    request: () => modern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
  },
  {
    name: 'calls of 2026-07-28',
    options: calls,
    request: () => modern('tools/call', { name: 'hold', arguments: {} }),
  },
  {
    name: 'calls in sessions',
    options: calls,
    request: async (test, user) => ({ headers: await sessionOf(test, user), body: callOf('hold') }),
    // A client that hangs up may come back for the answer.
    end: endSession,
  },
  {
    name: 'calls without a session',
    options: caps => ({ ...calls(caps), legacy: 'stateless' }),
    request: () => ({ body: callOf('hold') }),
  },
];

describe.each(platforms())('limits on %s', platform => {
  let test: TestApp;
  const start = async (mcp: Options) => {
    const module = { providers: [HEADER_GUARD] };
    // Nobody ends the calls that are held at the end of a test.
    test = await startApp([HeldTools], {
      platform,
      mcp: { ...mcp, shutdownTimeoutMs: 1 },
      module,
      forceCloseConnections: true,
    });
  };
  afterEach(() => test.close());

  describe.each(KINDS)('$name', ({ options, request, end }) => {
    const open = async (user: string) => sendAs(test, user, await request(test, user));
    const close = (user: string, answer: BegunAnswer) => (end ? end(test, user, answer) : answer.hangUp());

    it('are refused past the cap of a caller, while others have theirs', async () => {
      await start(options({ max: 10, own: 2 }));
      const held = [await open('greedy'), await open('greedy')];
      const { body } = await request(test, 'greedy');
      const refused = [await open('greedy'), await open('greedy')];
      for (const one of refused) {
        expect(one).toMatchObject({
          status: 429,
          headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
        });
        expect(await one.json()).toEqual({
          jsonrpc: '2.0',
          id: body === undefined ? null : 1,
          error: {
            code: -32000,
            message: expect.stringContaining('the limit of the caller'),
            data: { statusCode: 429 },
          },
        });
      }
      for (const era of ['modern', 'legacy'] as const) {
        const client = await test.client({ era, headers: { 'x-user': 'modest' } });
        const answers = Array.from({ length: 5 }, () => client.callTool({ name: 'quick' }));
        for (const { isError } of await Promise.all(answers)) expect(isError).toBeUndefined();
      }
      const others = [await open('modest'), await open('another')];
      expect(others.map(({ status }) => status)).toEqual([200, 200]);
      await close('greedy', held[0]);
      expect(await open('greedy')).toMatchObject({ status: 200 });
      expect(await open('greedy')).toMatchObject({ status: 429 });
    });

    it('leave half of a small cap of the process to other callers', async () => {
      await start(options({ max: 5 }));
      for (const user of ['a', 'b']) {
        const statuses = [await open(user), await open(user), await open(user)].map(({ status }) => status);
        expect(statuses).toEqual([200, 200, 429]);
      }
    });

    it('are refused past the cap of the process', async () => {
      await start(options({ max: 3, own: 2 }));
      const held = [await open('a'), await open('a'), await open('b')];
      expect(held.map(({ status }) => status)).toEqual([200, 200, 200]);
      const refused = await open('c');
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': expect.any(String) } });
      expect(await refused.json()).toMatchObject({
        error: { code: -32000, message: expect.stringContaining('the limit of the server') },
      });
      await close('b', held[2]);
      expect(await open('c')).toMatchObject({ status: 200 });
    });
  });

  it.each(KINDS.filter(({ end }) => !end))(
    'of $name are free again after clients hang up',
    async ({ options, request }) => {
      await start(options({ max: 2, own: 2 }));
      for (let times = 0; times < 20; times++) await hangUpAs(test, 'a', await request(test, 'a'));
      for (let held = 0; held < 2;) {
        const { status } = await sendAs(test, 'a', await request(test, 'a'));
        if (status === 200) held += 1;
      }
      expect(await sendAs(test, 'a', await request(test, 'a'))).toMatchObject({ status: 429 });
    },
  );

  it('of time end a session, whatever it has open', async () => {
    await start({ sessions: { max: 1, maxLifetimeMs: 500 } });
    const headers = await sessionOf(test, 'a');
    const call = await sendAs(test, 'a', { headers, body: callOf('hold') });
    const stream = await sendAs(test, 'a', { method: 'GET', headers });
    expect([call.status, stream.status]).toEqual([200, 200]);
    expect(await sendAs(test, 'a', INITIALIZE)).toMatchObject({ status: 503 });
    await Promise.all([call.text(), stream.text()]);
    expect(await sendAs(test, 'a', { headers, body: callOf('quick') })).toMatchObject({ status: 404 });
    expect(await sendAs(test, 'a', INITIALIZE)).toMatchObject({ status: 200 });
  });

  it('of listeners count both kinds together', async () => {
    await start(listeners({ max: 10, own: 1 }));
    const stream = await sendAs(test, 'a', { method: 'GET', headers: await sessionOf(test, 'a') });
    const listen = modern('subscriptions/listen', { notifications: {} });
    expect(await sendAs(test, 'a', listen)).toMatchObject({ status: 429 });
    await stream.hangUp();
    expect(await sendAs(test, 'a', listen)).toMatchObject({ status: 200 });
  });

  describe('of calls', () => {
    const batch = (...names: string[]) => names.map((name, id) => callOf(name, id));

    it('refuse a list of calls as a whole', async () => {
      await start(calls({ max: 10, own: 2 }));
      const headers = await sessionOf(test, 'a');
      const refused = await sendAs(test, 'a', { headers, body: batch('hold', 'hold', 'hold') });
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ id: null, error: { code: -32000 } });
      expect(test.app.get(HeldTools).running).toBe(0);
      const answer = await sendAs(test, 'a', { headers, body: batch('quick', 'quick') });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toHaveLength(2);
    });

    it('let what is no call pass', async () => {
      await start(calls({ max: 10, own: 1 }));
      const headers = await sessionOf(test, 'a');
      await sendAs(test, 'a', { headers, body: callOf('hold') });
      const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
      expect(await sendAs(test, 'a', { headers, body: ping })).toMatchObject({ status: 200 });
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
      expect(await sendAs(test, 'a', { headers, body: cancelled })).toMatchObject({ status: 202 });
      expect(await sendAs(test, 'a', { headers, body: callOf('quick', 3) })).toMatchObject({ status: 200 });
    });
  });
});
