import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { McpServerRegistry, Tool } from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { principalIn } from '../../lib/explorer/views/principal.js';
import { callerOf } from '../../lib/protocol/caller.js';
import { tokenOf, trusting } from '../auth/callers.js';
import { anyPlatform } from '../fixtures/matrix.js';
import { startExplored, type ExploredApp } from './explored-app.js';

@Injectable()
class Notes {
  @Tool()
  note() {
    return 'noted';
  }
}

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;

describe.each(anyPlatform())('what clients hold open, on %s', platform => {
  let app: ExploredApp;

  beforeEach(async () => {
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example.com/'],
      verifier: trusting,
    });
    const mcp = { sessions: { maxPerCaller: 200, max: 200 } };
    app = await startExplored([Notes], { platform, mcp, module: { imports: [auth] } });
    await app.url();
  });
  afterEach(() => app.close());

  const live = async () => {
    const { text, json } = await app.get('/mcp-explorer/api/live');
    return { text, lists: json.servers[0].lists };
  };
  const headersOf = (user: string) => ({ authorization: `Bearer ${tokenOf(user)}` });
  const connect = (user: string, era: 'modern' | 'legacy' = 'legacy') =>
    app.client({ era, headers: headersOf(user) });

  /** Listens in a session of its own, as a client does. */
  async function listen(user: string): Promise<{ id: string; stream: IncomingMessage }> {
    const shared = { ...headersOf(user), accept: 'application/json, text/event-stream' };
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const begun = await fetch(await app.url(), {
      method: 'POST',
      headers: { ...shared, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
    });
    await begun.text();
    const id = begun.headers.get('mcp-session-id')!;
    const headers = { ...shared, 'mcp-session-id': id, 'mcp-protocol-version': '2025-06-18' };
    const [stream] = (await once(get(await app.url(), { headers, agent: false }), 'response')) as [
      IncomingMessage,
    ];
    return { id, stream };
  }

  it('is listed with its caller, and without what authorizes', async () => {
    expect((await live()).lists).toEqual({ sessions: { rows: [], more: 0 }, streams: { rows: [], more: 0 } });
    const { id, stream } = await listen('alice');
    const row = { caller: 'alice', session: id.slice(0, 8), revision: '2025-06-18', since: ISO };
    const { text, lists } = await live();
    expect(lists).toEqual({
      sessions: { rows: [{ ...row, lastMessageAt: ISO }], more: 0 },
      streams: { rows: [row], more: 0 },
    });
    expect(text).not.toContain(id);
    expect(text).not.toContain(tokenOf('alice'));
    stream.destroy();
  });

  it('has the time of its latest message', async () => {
    const { stream } = await listen('alice');
    expect((await live()).lists.streams.rows[0].lastMessageAt).toBeUndefined();
    const received = once(stream, 'data');
    await app.app.get(McpServerRegistry).add('tool', { name: 'other' }, () => 'other');
    await received;
    expect((await live()).lists.streams.rows[0].lastMessageAt).toEqual(ISO);
    stream.destroy();
  });

  it('is listed up to 100 rows, the latest first', async () => {
    for (let index = 0; index < 101; index++) await connect(index === 100 ? 'bob' : 'alice');
    const { sessions } = (await live()).lists;
    expect([sessions.rows.length, sessions.more, sessions.rows[0].caller]).toEqual([100, 1, 'bob']);
  });

  it('is listed for a subscription of revision 2026-07-28, without a session', async () => {
    const client = await connect('alice', 'modern');
    const subscription = await client.listen({ toolsListChanged: true });
    const { streams } = (await live()).lists;
    expect(streams.rows).toEqual([
      { caller: 'alice', revision: '2026-07-28', since: ISO, lastMessageAt: ISO },
    ]);
    await subscription.close();
  });
});

it.each([
  ['a subject', callerOf({ token: '', clientId: 'app', scopes: [], extra: { sub: 'string' } }, {}), 'string'],
  [
    'a subject of an issuer',
    callerOf({ token: '', clientId: 'app', scopes: [], extra: { iss: 'https://a.example', sub: 'ada' } }, {}),
    'ada',
  ],
  ['a client', callerOf({ token: '', clientId: 'app', scopes: [] }, {}), 'app'],
  [
    'a client with claims of its own',
    callerOf({ token: '', clientId: 'app', scopes: [], extra: { tenant: 'x' } }, {}),
    'app',
  ],
  ['a user with a name', callerOf(undefined, { user: { username: 'bob' } }), 'bob'],
  ['a user', callerOf(undefined, { user: { id: 7, name: 'Ada' } }), '7'],
  ['a user that is a text', callerOf(undefined, { user: 'ada' }), 'ada'],
  ['nobody', callerOf(undefined, {}), 'anonymous'],
  ['a tenant', JSON.stringify([callerOf(undefined, { user: { sub: 'ada' } }), { tenant: 'x' }]), 'ada'],
  ['an address', '10.0.0.1', '10.0.0.1'],
  ['stdio', '["stdio"]', 'stdio'],
])('the principal in the key of %s', (_, key, principal) => {
  expect(principalIn(key)).toBe(principal);
});
