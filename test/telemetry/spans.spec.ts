import type { Client } from '@modelcontextprotocol/client';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { cells, startApp, type TestApp } from '../fixtures/matrix.js';
import { expectConform, type SpanCase } from './conventions.js';
import { Handlers } from './handlers.js';
import { Recorder } from './recorder.js';

type Case = readonly [
  what: string,
  send: (client: Client) => Promise<unknown>,
  span: Omit<SpanCase, 'kind'>,
  era?: 'modern' | 'legacy',
];

const tool = (name: string): ((client: Client) => Promise<unknown>) => {
  return client => client.callTool({ name, arguments: { text: 'hello' } });
};

const CASES: readonly Case[] = [
  ['a tool', tool('echo'), { method: 'tools/call', tool: 'echo' }],
  ['a tool that fails', tool('broken'), { method: 'tools/call', tool: 'broken', errorType: 'tool_error' }],
  [
    'a tool that is refused',
    tool('refused'),
    { method: 'tools/call', tool: 'refused', errorType: '-32000', statusCode: '-32000' },
  ],
  [
    'a tool that does not exist',
    tool('nowhere'),
    { method: 'tools/call', tool: 'nowhere', isKnown: false, errorType: '-32602', statusCode: '-32602' },
  ],
  ['the tools', client => client.listTools(), { method: 'tools/list' }],
  [
    'a wrong page of the tools',
    client => client.request({ method: 'tools/list', params: { cursor: 'none' } }),
    { method: 'tools/list', errorType: '-32602', statusCode: '-32602' },
  ],
  ['a prompt', client => client.getPrompt({ name: 'greet' }), { method: 'prompts/get', prompt: 'greet' }],
  [
    'a prompt that fails',
    client => client.getPrompt({ name: 'fails' }),
    { method: 'prompts/get', prompt: 'fails', errorType: '-32603', statusCode: '-32603' },
  ],
  ['the prompts', client => client.listPrompts(), { method: 'prompts/list' }],
  [
    'a completion',
    client =>
      client.complete({ ref: { type: 'ref/prompt', name: 'named' }, argument: { name: 'who', value: 'a' } }),
    { method: 'completion/complete' },
  ],
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
  ['a ping', client => client.ping(), { method: 'ping' }, 'legacy'],
];

const recorder = new Recorder();
afterAll(() => recorder.close());

describe.each(cells())('a server span over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Client;
  const hasSession = era === 'legacy' && legacy === 'sessions';
  beforeAll(async () => {
    const module = { imports: [McpTelemetryModule.forRoot()] };
    test = await startApp([Handlers], { platform, mcp: { legacy }, module });
    client = await test.client({ era });
  });
  afterAll(() => test.close());

  const sent = CASES.filter(([, , , only]) => only === undefined || only === era);
  it.each(sent.map(([what, send, span]) => ({ what, send, span })))(
    'has the attributes of the conventions for $what',
    async ({ send, span }) => {
      recorder.reset();
      await send(client).catch(() => undefined);
      const protocolVersion = era === 'modern' ? '2026-07-28' : '2025-11-25';
      // Without a session, the SDK's server answers a ping, and knows no revision.
      const isUnknown = span.method === 'ping' && !hasSession;
      const [found, ...others] = recorder.spansOf('SERVER');
      expectConform(found, {
        kind: 'SERVER',
        ...span,
        ...(!isUnknown && { protocolVersion }),
        hasSession,
      });
      expect(others).toEqual([]);
    },
  );

  it('says in its status what a JSON-RPC error says', async () => {
    recorder.reset();
    await tool('refused')(client).catch(() => undefined);
    expect(recorder.span('SERVER', 'tools/call refused').status.message).toBe('Not now');
  });
});

it('has the handshake of either era', async () => {
  const test = await startApp([Handlers], { module: { imports: [McpTelemetryModule.forRoot()] } });
  recorder.reset();
  await test.client({ era: 'legacy' });
  expectConform(recorder.span('SERVER', 'initialize'), {
    kind: 'SERVER',
    method: 'initialize',
    hasSession: true,
  });
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
  expect(heard.attributes['error.type']).toBeUndefined();
  expect(refused.attributes['error.type']).toBe('-32602');
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
