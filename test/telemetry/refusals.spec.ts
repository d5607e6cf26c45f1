import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { bearer, trusting } from '../auth/callers.js';
import { callOf, INITIALIZE, modern, sendAs, type LimitedRequest } from '../fixtures/limits.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { Handlers } from './handlers.js';

@Injectable()
class Tools {
  @RequireScopes('files')
  @Tool()
  scoped() {
    return 'scoped';
  }
}

const AUTH = McpAuthModule.forRoot({
  resource: 'https://shop.example.com/mcp',
  authorizationServers: ['https://login.example.com'],
  verifier: trusting,
});
const UNKNOWN = { 'mcp-session-id': 'unknown' };
const SCOPED = modern('tools/call', { name: 'scoped' });

let test: TestApp;
beforeAll(async () => {
  test = await startApp([Tools], { module: { imports: [AUTH, McpTelemetryModule.forRoot()] } });
});
afterAll(() => test.close());

const as = (sent: LimitedRequest, more: Record<string, string> = {}): LimitedRequest => ({
  ...sent,
  headers: { ...bearer('ada'), ...sent.headers, ...more },
});

it.each<readonly [what: string, sent: LimitedRequest, status: number]>([
  ['without a token', INITIALIZE, 401],
  ['whose token lacks a scope', as(SCOPED), 403],
  ['of a session that does not exist', as({ body: callOf('scoped') }, UNKNOWN), 404],
  [
    'with a header that names another method',
    as(modern('tools/list'), { 'mcp-method': 'prompts/list' }),
    400,
  ],
  ['with another content type', as(SCOPED, { 'content-type': 'text/plain' }), 415],
])('a request %s is counted by its status', async (_, sent, status) => {
  const counted = () => test.app.get(McpMetrics).snapshot().servers['test'].refusals[`http.${status}`] ?? 0;
  const before = counted();
  const answer = await sendAs(test, undefined, sent);
  await answer.text();
  expect([answer.status, counted()]).toEqual([status, before + 1]);
});

it('a session past a cap is counted once, by the limit', async () => {
  const limited = await startApp([Handlers], {
    mcp: { sessions: { max: 1 } },
    module: { imports: [McpTelemetryModule.forRoot()] },
  });
  for (const status of [200, 503]) {
    const answer = await sendAs(limited, undefined, INITIALIZE);
    await answer.text();
    expect(answer.status).toBe(status);
  }
  const { refusals } = limited.app.get(McpMetrics).snapshot().servers['test'];
  expect(refusals).toEqual({ 'sessions.server': 1 });
  await limited.close();
});
