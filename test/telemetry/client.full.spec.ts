import { Injectable } from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import { Validator } from 'nestjs-mcp';
import { OnElicitation, type McpClient, type McpClientOptions } from 'nestjs-mcp/client';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startClients, type ClientApp } from '../client/fixtures.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { expectConform, type SpanCase } from './conventions.js';
import { Handlers } from './handlers.js';
import { Recorder } from './recorder.js';

type Case = readonly [
  what: string,
  send: (client: McpClient) => Promise<unknown>,
  span: Omit<SpanCase, 'kind'>,
];

const tool = (name: string) => (client: McpClient) => client.callTool({ name, arguments: { text: 'hello' } });

const CASES: readonly Case[] = [
  ['a tool', tool('echo'), { method: 'tools/call', tool: 'echo' }],
  [
    'a tool that fails',
    tool('broken'),
    { method: 'tools/call', tool: 'broken', errorType: 'tool_error', isKnown: false },
  ],
  [
    'a tool that is refused',
    tool('refused'),
    { method: 'tools/call', tool: 'refused', isKnown: false, errorType: '-32000', statusCode: '-32000' },
  ],
  [
    'a tool that does not exist',
    tool('nowhere'),
    { method: 'tools/call', tool: 'nowhere', isKnown: false, errorType: '-32602', statusCode: '-32602' },
  ],
  ['the tools', client => client.listTools(), { method: 'tools/list' }],
  ['a prompt', client => client.getPrompt({ name: 'greet' }), { method: 'prompts/get', prompt: 'greet' }],
  ['the prompts', client => client.listPrompts(), { method: 'prompts/list' }],
  [
    'a resource',
    client => client.readResource({ uri: 'config://app' }),
    { method: 'resources/read', uri: 'config://app' },
  ],
  ['the resources', client => client.listResources(), { method: 'resources/list' }],
  [
    'the resource templates',
    client => client.listResourceTemplates(),
    { method: 'resources/templates/list' },
  ],
  [
    'a completion',
    client =>
      client.complete({ ref: { type: 'ref/prompt', name: 'named' }, argument: { name: 'who', value: 'a' } }),
    { method: 'completion/complete' },
  ],
];

const recorder = new Recorder();
let server: TestApp;
let url: string;
beforeAll(async () => {
  server = await startApp([Handlers], { module: { imports: [McpTelemetryModule.forRoot()] } });
  url = await server.url();
});
afterAll(async () => {
  await server.close();
  await recorder.close();
});

const start = (options: Partial<McpClientOptions>): Promise<ClientApp> =>
  startClients([{ name: 'shop', url, ...options }], [], { imports: [McpTelemetryModule.forRoot()] });

describe.each(['modern', 'legacy'] as const)('a client span, %s', era => {
  let clients: ClientApp;
  beforeAll(async () => {
    clients = await start({ era });
    await clients.client().listTools();
  });
  afterAll(() => clients.close());

  it.each(CASES.map(([what, send, span]) => ({ what, send, span })))(
    'has the attributes of the conventions for $what, and the server span for its child',
    async ({ send, span }) => {
      recorder.reset();
      await send(clients.client()).catch(() => undefined);
      const protocolVersion = era === 'modern' ? '2026-07-28' : '2025-11-25';
      const [found, ...others] = recorder.spansOf('CLIENT');
      expectConform(found, { kind: 'CLIENT', ...span, protocolVersion, hasSession: era === 'legacy' });
      expect(found.attributes).toMatchObject({
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(url).port),
      });
      expect(others).toEqual([]);
      const answered = recorder.spansOf('SERVER');
      expect(answered.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
        found.spanContext().spanId,
      ]);
      expect(answered[0].attributes['jsonrpc.request.id']).toBe(found.attributes['jsonrpc.request.id']);
    },
  );
});

it('the span of a handshake has the revision on which both sides agree', async () => {
  const clients = await start({ era: 'legacy' });
  recorder.reset();
  await clients.client().listTools();
  expect(recorder.span('CLIENT', 'initialize').attributes['mcp.protocol.version']).toBe('2025-11-25');
  await clients.close();
});

describe('the interceptors of a client', () => {
  @Injectable()
  class Looks {
    @Validator({ name: 'looks', events: ['tools/call'], phase: 'request' })
    look() {
      return { valid: true };
    }
  }

  it('have spans beside that of the request, which begins after them', async () => {
    const clients = await startClients([{ name: 'shop', url, era: 'modern' }], [Looks], {
      imports: [McpTelemetryModule.forRoot()],
    });
    const call = () => clients.client().callTool({ name: 'echo', arguments: { text: 'hello' } });
    await call();
    recorder.reset();
    await call();
    expect(recorder.span('INTERNAL', 'interceptor looks').parentSpanContext).toBeUndefined();
    recorder.reset();
    await recorder.tracer.startActiveSpan('work', async work => {
      await call();
      work.end();
    });
    const work = recorder.span('INTERNAL', 'work');
    expect(work.events).toEqual([]);
    expect(recorder.span('INTERNAL', 'interceptor looks').parentSpanContext?.spanId).toBe(
      work.spanContext().spanId,
    );
    await clients.close();
  });
});

it('names its requests that end before their answer', async () => {
  const clients = await start({ era: 'modern' });
  const { client } = clients;
  await client().listTools();
  const running = () => server.app.get(McpMetrics).snapshot().servers['test'].open['calls'];
  const untilRunning = async (count: number) => {
    while (running() !== count) await new Promise(setImmediate);
  };
  recorder.reset();
  const late = client().callTool({ name: 'waits' }, { timeout: 1000 });
  await untilRunning(1);
  await late.catch(() => undefined);
  await untilRunning(0);
  const cancel = new AbortController();
  const cancelled = client().callTool({ name: 'waits' }, { signal: cancel.signal });
  await untilRunning(1);
  cancel.abort();
  await cancelled.catch(() => undefined);
  await untilRunning(0);
  const spans = recorder.spansOf('CLIENT');
  expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(['timeout', 'cancelled']);
  expect(spans.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.ERROR]);
  const ended = recorder.spansOf('SERVER', 'tools/call waits');
  expect(ended.map(({ attributes }) => attributes['error.type'])).toEqual(['cancelled', 'cancelled']);
  expect(recorder.openSpans).toBe(0);
  await clients.close();
});

it('says that a server cannot be reached', async () => {
  const clients = await start({ url: 'http://127.0.0.1:9/mcp', era: 'legacy' });
  recorder.reset();
  await clients
    .client()
    .listTools()
    .catch(() => undefined);
  expect(recorder.spansOf('CLIENT').map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
    ['initialize', '_OTHER'],
    ['tools/list', 'connection_failed'],
  ]);
  await clients.close();
});

it('has a span for each call that gets no connection', async () => {
  const down = {
    name: 'shop',
    url: 'http://127.0.0.1:9/mcp',
    era: 'legacy',
    reconnectDelayMs: 30_000,
  } as const;
  const clients = await start(down);
  recorder.reset();
  const client = clients.client();
  for (let index = 0; index < 3; index++) await client.callTool({ name: 'echo' }).catch(() => undefined);
  const spans = recorder.spansOf('CLIENT', 'tools/call');
  expect(spans.map(({ attributes }) => attributes['error.type'])).toEqual(Array(3).fill('connection_failed'));
  const { operations } = clients.app.get(McpMetrics).snapshot();
  const failed = operations.find(({ method }) => method === 'tools/call');
  expect(failed).toMatchObject({ side: 'client', name: 'shop', duration: { count: 3 } });
  await clients.close();
});

it('has a server span for a question that it answers, under the span of the question', async () => {
  @Injectable()
  class User {
    @OnElicitation('shop')
    answer() {
      return { action: 'accept' as const, content: {} };
    }
  }
  const imports = [McpTelemetryModule.forRoot()];
  const clients = await startClients([{ name: 'shop', url, era: 'legacy' }], [User], { imports });
  recorder.reset();
  await clients.client().callTool({ name: 'elicits' });
  const answered = recorder.span('SERVER', 'elicitation/create');
  const asked = recorder.span('CLIENT', 'elicitation/create');
  expect(answered.parentSpanContext?.spanId).toBe(asked.spanContext().spanId);
  expect(answered.attributes).toMatchObject({
    'mcp.method.name': 'elicitation/create',
    'mcp.protocol.version': '2025-11-25',
    'jsonrpc.request.id': asked.attributes['jsonrpc.request.id'],
    'network.transport': 'tcp',
  });
  await clients.close();
});

it('adds to the span of a GenAI instrumentation for the same call, and makes none', async () => {
  const clients = await start({ era: 'modern' });
  await clients.client().listTools();
  recorder.reset();
  await recorder.tracer.startActiveSpan(
    'execute_tool echo',
    { attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'echo' } },
    async span => {
      await tool('echo')(clients.client());
      span.end();
    },
  );
  const outer = recorder.span('INTERNAL', 'execute_tool echo');
  expect(recorder.spansOf('CLIENT')).toEqual([]);
  expect(outer.attributes).toMatchObject({
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2026-07-28',
  });
  const { parentSpanContext } = recorder.span('SERVER', 'tools/call echo');
  expect(parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
  await clients.close();
});
