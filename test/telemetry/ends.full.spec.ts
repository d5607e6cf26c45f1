import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Resource, Tool } from 'nestjs-mcp';
import { McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import type { InterceptorInvoker } from 'nestjs-mcp/interceptors';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { bearer, trusting } from '../auth/callers.js';
import { ask } from '../auth/raw-caller.js';
import { deferred } from '../fixtures/deferred.js';
import { callOf, HeldTools, INITIALIZE, modern, sendAs, sessionOf } from '../fixtures/limits.js';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';
import { Recorder } from './recorder.js';

const USER = 'ada';
const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;

@Injectable()
class Tools extends HeldTools {
  @Tool()
  async asks(@Ctx() ctx: McpContext) {
    await ctx.elicit('which', FORM);
  }
}

@Injectable()
class Scoped {
  @RequireScopes('files')
  @Resource({ uri: 'scoped://one' })
  scoped() {
    return 'scoped';
  }
}

const recorder = new Recorder();
beforeEach(() => recorder.reset());
afterAll(() => recorder.close());

const telemetry = { imports: [McpTelemetryModule.forRoot()] };

/** The numbers of the server, as code and as OpenTelemetry see them. */
async function openIn(test: TestApp): Promise<Record<string, number>> {
  const { open } = test.app.get(McpMetrics).snapshot().servers['test'];
  const exported = await recorder.metrics();
  for (const [name, metric] of Object.entries(METRICS)) {
    const points = exported.find(({ descriptor }) => descriptor.name === metric)?.dataPoints ?? [];
    expect([name, points.map(({ value }) => value)]).toEqual([name, [open[name]]]);
  }
  return open;
}

const METRICS = {
  calls: 'nestjs_mcp.calls',
  hanging: 'nestjs_mcp.hanging_calls',
  sessions: 'nestjs_mcp.sessions',
  listeners: 'nestjs_mcp.listeners',
  inputRequests: 'nestjs_mcp.input_requests',
  responses: 'nestjs_mcp.http.responses',
  eventStore: 'nestjs_mcp.event_store.size',
};

const IDLE = {
  calls: 0,
  hanging: 0,
  sessions: 0,
  listeners: 0,
  inputRequests: 0,
  responses: 0,
  eventStore: 0,
};

const untilOpen = async (test: TestApp, wanted: Partial<typeof IDLE>) => {
  const metrics = test.app.get(McpMetrics);
  const isThere = () =>
    Object.entries(wanted).every(([name, count]) => metrics.snapshot().servers['test'].open[name] === count);
  while (!isThere()) await nextTurn();
};

const endSession = (test: TestApp, headers: Record<string, string>) =>
  sendAs(test, USER, { method: 'DELETE', headers });

/** What a client opens, what the gauges say meanwhile, and how it ends. */
interface Kind {
  readonly what: string;
  readonly open: (test: TestApp) => Promise<{ readonly end: () => Promise<unknown> }>;
  readonly during: Partial<typeof IDLE>;
}

const hangUpOn =
  (send: (test: TestApp) => Promise<Parameters<typeof sendAs>[2]>) => async (test: TestApp) => {
    const answer = await sendAs(test, USER, await send(test));
    return { end: () => answer.hangUp() };
  };

/** A session, with what is sent in it. */
const inSession =
  (sent: (headers: Record<string, string>) => Parameters<typeof sendAs>[2], isHungUp = false) =>
  async (test: TestApp) => {
    const headers = await sessionOf(test, USER);
    const answer = await sendAs(test, USER, sent(headers));
    const end = async () => {
      if (isHungUp) await answer.hangUp();
      await endSession(test, headers);
      if (!isHungUp) await answer.text();
    };
    return { end };
  };

const asking = {
  ...INITIALIZE.body,
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: { form: {} } },
    clientInfo: { name: 'raw', version: '1' },
  },
};

/** A call that waits for the answer to a question. */
const withInputRequest = (cancels: boolean) => async (test: TestApp) => {
  const opened = await sendAs(test, USER, { body: asking });
  await opened.text();
  const headers = { 'mcp-session-id': opened.headers['mcp-session-id'] as string };
  const answer = await sendAs(test, USER, { headers, body: callOf('asks') });
  const end = async () => {
    if (cancels) {
      const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
      await (await sendAs(test, USER, { headers, body })).text();
      await untilOpen(test, { inputRequests: 0, calls: 0 });
    }
    await endSession(test, headers);
    await answer.text();
  };
  return { end };
};

const HOLD = { name: 'hold', arguments: {} };
const LISTEN = { notifications: { toolsListChanged: true } };

const KINDS: readonly Kind[] = [
  {
    what: 'a call of 2026 whose client hangs up',
    open: hangUpOn(async () => modern('tools/call', HOLD)),
    during: { calls: 1, responses: 1 },
  },
  {
    what: 'a call whose stream breaks and whose session ends',
    open: inSession(headers => ({ headers, body: callOf('hold') }), true),
    during: { calls: 1, sessions: 1, responses: 1 },
  },
  {
    what: 'a call whose session ends',
    open: inSession(headers => ({ headers, body: callOf('hold') })),
    during: { calls: 1, sessions: 1, responses: 1 },
  },
  {
    what: 'a listener of 2026 that hangs up',
    open: hangUpOn(async () => modern('subscriptions/listen', LISTEN)),
    during: { listeners: 1, responses: 1 },
  },
  {
    what: 'a listener of a session that hangs up',
    open: inSession(headers => ({ method: 'GET', headers }), true),
    during: { listeners: 1, sessions: 1 },
  },
  {
    what: 'a listener whose session ends',
    open: inSession(headers => ({ method: 'GET', headers })),
    during: { listeners: 1, sessions: 1 },
  },
  {
    what: 'an input request whose call is cancelled',
    open: withInputRequest(true),
    during: { inputRequests: 1, calls: 1 },
  },
  {
    what: 'an input request whose session ends',
    open: withInputRequest(false),
    during: { inputRequests: 1, calls: 1 },
  },
];

describe.each(platforms())('on %s, all gauges are 0 and all spans ended after', platform => {
  let test: TestApp;
  beforeEach(async () => {
    test = await startApp([Tools], { platform, mcp: { shutdownTimeoutMs: 1 }, module: telemetry });
  });
  afterEach(() => test.close());

  it.each(KINDS)('$what', async ({ open, during }) => {
    const { end } = await open(test);
    await untilOpen(test, during);
    expect(await openIn(test)).toMatchObject(during);
    await end();
    await untilOpen(test, IDLE);
    expect(await openIn(test)).toEqual(IDLE);
    while (recorder.openSpans > 0) await nextTurn();
    expect(recorder.openSpans).toBe(0);
  });

  it('the application has closed', async () => {
    for (const { open } of KINDS) await open(test);
    await untilOpen(test, { listeners: 3, inputRequests: 2 });
    const { app } = test;
    const metrics = app.get(McpMetrics);
    await app.close();
    expect(metrics.snapshot().servers['test'].open).toEqual(IDLE);
    expect(recorder.openSpans).toBe(0);
  });
});

it('the span of a subscription ends if its HTTP request is refused', async () => {
  const imports = [
    ...telemetry.imports,
    McpAuthModule.forRoot({
      resource: 'https://shop.example.com/mcp',
      authorizationServers: ['https://login.example.com'],
      verifier: trusting,
    }),
  ];
  const test = await startApp([Scoped], { module: { imports } });
  const params = { notifications: { resourceSubscriptions: ['scoped://one'] } };
  const caller = { url: await test.url(), era: 'modern', headers: bearer('ada') } as const;
  const { status } = await ask(caller, 'subscriptions/listen', params);
  expect(status).toBe(403);
  expect(recorder.openSpans).toBe(0);
  const { attributes } = recorder.span('SERVER', 'subscriptions/listen');
  expect(attributes['error.type']).toBe('-32000');
  await test.close();
});

describe('the circuit breaker of an interceptor host', () => {
  it('is 0, 2, 1 and 0 again as the host works, fails, is tried and works', async () => {
    let answer: () => Promise<unknown> = () => Promise.resolve({ valid: true });
    const descriptor = {
      name: 'checks',
      type: 'validation',
      hooks: [{ events: ['tools/call'], phase: 'request' }],
    };
    const invoker: InterceptorInvoker = {
      list: () => Promise.resolve({ interceptors: [descriptor] }),
      invoke: async params => ({
        interceptor: params.name,
        type: 'validation',
        phase: params.phase,
        ...((await answer()) as object),
      }),
    };
    const breaker = { errorPercentage: 1, volume: 1, resetMs: 20 };
    const servers = [{ name: 'policy', invoker, breaker }];
    const test = await startApp([Tools], { mcp: { interceptors: { servers } }, module: telemetry });
    const client = await test.client();
    const metrics = test.app.get(McpMetrics);
    const call = () => client.callTool({ name: 'quick' }).catch(() => undefined);
    const state = async () => [
      metrics.snapshot().breakers['policy'],
      (await recorder.metric('nestjs_mcp.interceptor.breaker'))?.dataPoints[0].value,
    ];
    const until = async (wanted: string) => {
      while (metrics.snapshot().breakers['policy'] !== wanted) await nextTurn();
    };
    await call();
    expect(await state()).toEqual(['closed', 0]);
    answer = () => Promise.reject(new Error('down'));
    await call();
    await until('half-open');
    const held = deferred<unknown>();
    answer = () => held.promise;
    const trial = call();
    expect(await state()).toEqual(['half-open', 1]);
    held.reject(new Error('still down'));
    await trial;
    expect((await state())[0]).not.toBe('closed');
    answer = () => Promise.resolve({ valid: true });
    await until('half-open');
    await call();
    expect(await state()).toEqual(['closed', 0]);
    await test.close();
  });
});
