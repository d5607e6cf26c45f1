import { Injectable, type CanActivate, type ExecutionContext, type INestApplication } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { McpTelemetryModule, type McpTelemetryOptions } from 'nestjs-mcp/telemetry';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { bearer, trusting } from '../auth/callers.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';
import { Lines } from './lines.js';
import { Recorder } from './recorder.js';

/** As an application's own login does it. */
@Injectable()
class Login implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    if (request.headers['x-user']) request.user = { id: 7 };
    return true;
  }
}

const LOGIN = { provide: APP_GUARD, useClass: Login };
const AUTH = McpAuthModule.forRoot({
  resource: 'https://shop.example.com/mcp',
  authorizationServers: ['https://login.example.com'],
  verifier: trusting,
});

const recorder = new Recorder();
const lines = new Lines();
let test: TestApp;
beforeEach(() => {
  recorder.reset();
  lines.written.length = 0;
});
afterEach(() => test.close());
afterAll(() => recorder.close());

async function start(options: McpTelemetryOptions = {}, imports: object[] = [], providers = [LOGIN]) {
  const telemetry = McpTelemetryModule.forRoot({ callLog: 'log', ...options });
  const module = { imports: [telemetry, ...imports] as never, providers };
  const configure = (app: INestApplication) => app.useLogger(lines);
  test = await startApp([Handlers], { module, configure });
}

/** The lines of calls. */
const calls = () => lines.of('McpCalls').filter(({ method }) => method === 'tools/call');

const COMMON = {
  server: 'test',
  method: 'tools/call',
  caller: 'anonymous',
  durationMs: expect.any(Number) as number,
  traceId: expect.stringMatching(/^[\da-f]{32}$/) as string,
};

it.each([
  ['echo', { outcome: 'ok' }],
  ['broken', { outcome: 'tool_error', reference: expect.stringMatching(/^[\da-f-]{36}$/) as string }],
  ['refused', { outcome: '-32000' }],
  ['nowhere', { outcome: '-32602' }],
  ['throwsQuestion', { outcome: 'input_required' }],
] as const)('a call of %s has a line, with nothing of its arguments', async (name, expected) => {
  await start();
  const client = await test.client({ onElicit: () => ({ action: 'cancel' }) });
  await client.callTool({ name, arguments: { text: 'hello' } }).catch(() => undefined);
  const [line] = calls();
  expect(JSON.parse(JSON.stringify(line))).toEqual({ ...COMMON, name, era: 'modern', ...expected });
  const [span] = recorder
    .spansOf('SERVER')
    .filter(({ attributes }) => attributes['mcp.method.name'] === 'tools/call');
  expect(line.traceId).toBe(span.spanContext().traceId);
});

it('a call that is cancelled has one line', async () => {
  await start();
  const client = await test.client();
  const cancel = new AbortController();
  const options = { signal: cancel.signal, onprogress: () => cancel.abort() };
  await client.callTool({ name: 'waits' }, options).catch(() => undefined);
  while (calls().length === 0) await nextTurn();
  expect(calls()).toEqual([expect.objectContaining({ name: 'waits', outcome: 'cancelled' })]);
});

it.each<readonly [what: string, headers: Record<string, string>, imports: object[], caller: string]>([
  ['the subject of a token', bearer('ada'), [AUTH], 'ada'],
  ["the application's own user", { 'x-user': 'yes' }, [], '7'],
  ['nobody', {}, [], 'anonymous'],
])('the caller is %s', async (_, headers, imports, caller) => {
  await start({}, imports);
  const client = await test.client({ headers, era: 'legacy' });
  await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  expect(calls()).toEqual([expect.objectContaining({ caller, era: 'legacy' })]);
});

it('a caller with a token is named for requests of its session that the SDK answers', async () => {
  await start({}, [AUTH]);
  const client = await test.client({ headers: bearer('ada'), era: 'legacy' });
  await client.ping();
  const ping = lines.of('McpCalls').find(({ method }) => method === 'ping');
  expect(ping).toMatchObject({ caller: 'ada', era: 'legacy' });
});

it('a discovery of 2026-07-28 has its era', async () => {
  await start();
  await test.client({ era: 'modern' });
  const found = lines.of('McpCalls').filter(({ method }) => method === 'server/discover');
  expect(found).toEqual([expect.objectContaining({ era: 'modern' })]);
});

it.each([
  ['a C1 control', '\u009b'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
  ['a bidirectional override', '\u202e'],
  ['a bidirectional isolate', '\u2066'],
  ['a delete', '\u007f'],
])('a name with %s is escaped', async (_, character) => {
  await start();
  const client = await test.client();
  await client.callTool({ name: `a${character}b` }).catch(() => undefined);
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  expect(inspect(calls()[0])).toContain(`name="a\\u${code}b"`);
});

it('arguments and results are there by option, without known secrets', async () => {
  await start({ recordArguments: true, recordResults: true });
  const client = await test.client();
  await client.callTool({
    name: 'echo',
    arguments: { text: 'key ghp_abcdefghijklmnopqrstuvwxyz0123456789' },
  });
  expect(calls()).toEqual([
    expect.objectContaining({
      arguments: '{"text":"key [REDACTED:github-token]"}',
      result: expect.stringContaining('key [REDACTED:github-token]') as string,
    }),
  ]);
});

it('a name of a caller cannot look like another field or line', async () => {
  await start();
  const client = await test.client();
  await client.callTool({ name: 'a outcome=ok\nb' }).catch(() => undefined);
  const text = inspect(calls()[0]);
  expect(text).toContain('name="a outcome=ok\\nb"');
  expect(text).toMatch(/^server=test method=tools\/call [^\n]* outcome=-32602 traceId=[\da-f]{32}$/);
});

it.each(['log', 'debug', 'verbose'] as const)('its level is %s by option', async callLog => {
  const write = jest.spyOn(lines, callLog);
  await start({ callLog });
  const client = await test.client();
  await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  expect(write.mock.calls.filter(line => line.at(-1) === 'McpCalls').length).toBeGreaterThan(0);
});

it('there is none by default', async () => {
  await start({ callLog: false });
  const client = await test.client();
  await client.callTool({ name: 'echo', arguments: { text: 'a' } });
  expect(lines.of('McpCalls')).toEqual([]);
});
