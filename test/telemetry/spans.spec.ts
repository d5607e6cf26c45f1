import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProtocolError, type Client } from '@modelcontextprotocol/client';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { cells, startApp, type TestApp } from '../fixtures/matrix.js';
import { casesOf } from './cases.js';
import { expectConform, expectConformMetric } from './conventions.js';
import { Handlers, Looks } from './handlers.js';
import { Recorder } from './recorder.js';

const recorder = new Recorder();
afterAll(() => recorder.close());

const telemetry = { imports: [McpTelemetryModule.forRoot()] };
const versionOf = (era: 'modern' | 'legacy') => (era === 'modern' ? '2026-07-28' : '2025-11-25');

describe.each(cells())('a server span over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Client;
  const hasSession = era === 'legacy' && legacy === 'sessions';
  const protocolVersion = versionOf(era);
  beforeAll(async () => {
    const interceptors = { expose: true, apply: false };
    test = await startApp([Handlers, Looks], { platform, mcp: { legacy, interceptors }, module: telemetry });
    client = await test.client({ era });
  });
  beforeEach(() => recorder.reset());
  afterAll(() => test.close());

  it.each(casesOf(era, hasSession))(
    'has the attributes of the conventions for $what',
    async ({ send, span }) => {
      await send(client).catch(() => undefined);
      const [found, ...others] = recorder.spansOf('SERVER');
      expectConform(found, { kind: 'SERVER', ...span, protocolVersion, hasSession });
      expect(others).toEqual([]);
    },
  );

  it('has a histogram with the attributes of the conventions', async () => {
    await client.callTool({ name: 'echo', arguments: { text: 'a' } });
    expectConformMetric((await recorder.metric('mcp.server.operation.duration'))!);
  });
});

// Without a session, a server cannot tell which call of 2025 is cancelled.
const cancellable = cells(({ era, legacy }) => era === 'modern' || legacy === 'sessions');

it.each(cancellable)('ends when its call is cancelled over $name', async ({ platform, era }) => {
  const test = await startApp([Handlers], { platform, module: telemetry });
  const client = await test.client({ era });
  recorder.reset();
  const cancel = new AbortController();
  const running = client.callTool({ name: 'waits' }, { signal: cancel.signal }).catch(() => undefined);
  while (recorder.openSpans === 0) await nextTurn();
  cancel.abort();
  await running;
  while (recorder.openSpans > 0) await nextTurn();
  expectConform(recorder.span('SERVER', 'tools/call waits'), {
    kind: 'SERVER',
    method: 'tools/call',
    tool: 'waits',
    errorType: 'cancelled',
    protocolVersion: versionOf(era),
    hasSession: era === 'legacy',
  });
  await test.close();
});

it('ends with the time that a call may take', async () => {
  const test = await startApp([Handlers], { mcp: { calls: { timeoutMs: 20 } }, module: telemetry });
  const client = await test.client();
  recorder.reset();
  await client.callTool({ name: 'waits' }).catch(() => undefined);
  expectConform(recorder.span('SERVER', 'tools/call waits'), {
    kind: 'SERVER',
    method: 'tools/call',
    tool: 'waits',
    errorType: 'timeout',
    statusCode: '-32000',
    message: 'The call did not finish within 20 ms',
    protocolVersion: '2026-07-28',
  });
  await test.close();
});

it('says that a round of 2026-07-28 asks its client', async () => {
  const test = await startApp([Handlers], { module: telemetry });
  const onElicit = () => ({ action: 'accept' as const, content: {} });
  const client = await test.client({ era: 'modern', onElicit });
  recorder.reset();
  await client.callTool({ name: 'throwsQuestion' });
  const [asking, answered] = recorder.spansOf('SERVER', 'tools/call throwsQuestion');
  const call = { kind: 'SERVER', method: 'tools/call', tool: 'throwsQuestion' } as const;
  expectConform(asking, { ...call, asks: true, protocolVersion: '2026-07-28' });
  expectConform(answered, { ...call, protocolVersion: '2026-07-28' });
  await test.close();
});

describe('a question to a 2025 client', () => {
  const answers = {
    onElicit: () => ({ action: 'accept' as const, content: {} }),
    onSample: () => ({
      role: 'assistant' as const,
      model: 'test',
      content: { type: 'text' as const, text: 'a' },
    }),
    onRoots: () => ({ roots: [] }),
  };
  const refuse = (): never => {
    throw new ProtocolError(-32001, 'Refused by the client');
  };
  const refusals = { onElicit: refuse, onSample: refuse, onRoots: refuse };
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp([Handlers], { module: telemetry });
  });
  afterAll(() => test.close());

  it.each([
    ['elicitation/create', 'elicits'],
    ['sampling/createMessage', 'samples'],
    ['roots/list', 'lists'],
  ])('has a client span with the attributes of the conventions for %s', async (method, name) => {
    const common = {
      kind: 'CLIENT',
      method,
      protocolVersion: '2025-11-25',
      hasSession: true,
      hasAddress: false,
    } as const;
    const refused = { errorType: '-32001', statusCode: '-32001' };
    for (const [handlers, more] of [
      [answers, {}],
      [refusals, refused],
    ] as const) {
      const client = await test.client({ era: 'legacy', ...handlers });
      recorder.reset();
      await client.callTool({ name });
      expectConform(recorder.span('CLIENT', method), { ...common, ...more });
    }
  });
});

it('has the handshake of either era', async () => {
  const test = await startApp([Handlers], { module: { imports: [McpTelemetryModule.forRoot()] } });
  recorder.reset();
  await test.client({ era: 'legacy' });
  expectConform(recorder.span('SERVER', 'initialize'), {
    kind: 'SERVER',
    method: 'initialize',
    protocolVersion: '2025-11-25',
    hasSession: true,
  });
  const { dataPoints } = (await recorder.metric('mcp.server.operation.duration'))!;
  const handshakes = dataPoints.filter(({ attributes }) => attributes['mcp.method.name'] === 'initialize');
  expect(handshakes.map(({ attributes }) => attributes['mcp.protocol.version'])).toContain('2025-11-25');
  await test.client({ era: 'modern' });
  expectConform(recorder.span('SERVER', 'server/discover'), {
    kind: 'SERVER',
    method: 'server/discover',
    protocolVersion: '2026-07-28',
  });
  await test.close();
});

it('is one for a request to listen, which ends when the stream begins', async () => {
  const test = await startApp([Handlers], { module: { imports: [McpTelemetryModule.forRoot()] } });
  const client = await test.client({ era: 'modern' });
  recorder.reset();
  const subscription = await client.listen({ resourceSubscriptions: ['config://app'] });
  await client.listen({ resourceSubscriptions: ['config://none'] }).catch(() => undefined);
  const [heard, refused] = recorder.spansOf('SERVER', 'subscriptions/listen');
  const listening = {
    kind: 'SERVER',
    method: 'subscriptions/listen',
    protocolVersion: '2026-07-28',
  } as const;
  expectConform(heard, listening);
  expectConform(refused, { ...listening, errorType: '-32602', statusCode: '-32602' });
  await subscription.close();
  await test.close();
});

it('names the URI of a resource, and records arguments and results, if the options say so', async () => {
  const options = { resourceUriInSpanNames: true, recordArguments: true, recordResults: true };
  const test = await startApp([Handlers], { module: { imports: [McpTelemetryModule.forRoot(options)] } });
  const client = await test.client();
  recorder.reset();
  await client.readResource({ uri: 'config://app' });
  const text = 'key ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  await client.callTool({ name: 'echo', arguments: { text } });
  await test.close();
  expect(recorder.spansOf('SERVER', 'resources/read config://app')).toHaveLength(1);
  const { attributes } = recorder.span('SERVER', 'tools/call echo');
  expect(attributes['gen_ai.tool.call.arguments']).toBe('{"text":"key [REDACTED:github-token]"}');
  expect(attributes['gen_ai.tool.call.result']).toContain('key [REDACTED:github-token]');
});
