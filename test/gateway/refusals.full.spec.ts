import { Inbox } from '../fixtures/inbox.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { textOf } from '../fixtures/matrix.js';
import { fakeBackend, type FakeCall } from './fake-backend.js';
import { connect, outcomeOf, startGateway } from './support.js';

const UNREACHABLE = {
  code: -32603,
  message: 'The server behind this gateway cannot be reached; try again later',
};

const done = { content: [{ type: 'text', text: 'done' }] };
const about = { capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } };

/** What a proxy, or a server that knows nothing of the request's revision, says. */
function badRequest({ response }: FakeCall): void {
  response.writeHead(400, { 'content-type': 'text/html' }).end('<h1>400 Bad Request</h1>');
}

describe('a request that a backend refuses with a plain 400', () => {
  it('fails alone, and has nothing opened anew', async () => {
    const waiting = new Inbox<FakeCall>();
    let discoveries = 0;
    let lists = 0;
    const backend = await fakeBackend({
      'server/discover': ({ reply }) => {
        discoveries += 1;
        reply({ ...about, supportedVersions: ['2026-07-28'] });
      },
      'tools/list': ({ reply }) => {
        lists += 1;
        reply({ tools: [{ name: 't', inputSchema: { type: 'object' } }] });
      },
      'tools/call': call =>
        JSON.stringify(call.params).includes('large') ? badRequest(call) : waiting.put(call),
    });
    const gateway = await startGateway({ backend: { url: backend.url } });
    const [client, other] = [await connect(gateway.url, 'modern'), await connect(gateway.url, 'modern')];
    const call = other.callTool({ name: 't' });
    const { reply } = await waiting.take();
    const refused = outcomeOf(client.callTool({ name: 't', arguments: { a: 'large' } }));
    expect(await refused).toMatchObject(UNREACHABLE);
    reply(done);
    expect(textOf(await call)).toBe('done');
    // The second time to see whether the server is still the same.
    expect([discoveries, lists]).toEqual([2, 1]);
    await client.close();
    await other.close();
    await gateway.app.close();
    backend.close();
  });

  it('has the next one open another connection where the server is another one, and cuts off no other', async () => {
    const waiting = new Inbox<FakeCall>();
    let isReplaced = false;
    const backend = await fakeBackend({
      'server/discover': call =>
        isReplaced ? badRequest(call) : call.reply({ ...about, supportedVersions: ['2026-07-28'] }),
      initialize: ({ reply }) => reply({ ...about, protocolVersion: '2025-11-25' }),
      'tools/call': call => {
        if (!isReplaced) return waiting.put(call);
        if (call.request.headers['mcp-protocol-version'] === '2026-07-28') return badRequest(call);
        call.reply({ content: [{ type: 'text', text: 'of another' }] });
      },
    });
    const gateway = await startGateway({ backend: { url: backend.url } });
    const client = await connect(gateway.url, 'modern');
    const call = client.callTool({ name: 't' });
    const { reply } = await waiting.take();
    isReplaced = true;
    expect(await outcomeOf(client.callTool({ name: 't' }))).toMatchObject(UNREACHABLE);
    expect(textOf(await client.callTool({ name: 't' }))).toBe('of another');
    reply(done);
    expect(textOf(await call)).toBe('done');
    await client.close();
    await gateway.app.close();
    backend.close();
  });
});

it('a call that a 2025-era backend answers with an error, and with HTTP 400, is made once', async () => {
  let calls = 0;
  let sessions = 0;
  const backend = await fakeBackend(
    {
      initialize: ({ id, response }) => {
        sessions += 1;
        const headers = { 'content-type': 'application/json', 'mcp-session-id': String(sessions) };
        const result = { ...about, protocolVersion: '2025-11-25' };
        response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      },
      'tools/call': ({ id, response }) => {
        calls += 1;
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'Bad argument' } }),
        );
      },
    },
    'legacy',
  );
  const gateway = await startGateway({ backend: { url: backend.url, era: 'legacy' } });
  const client = await connect(gateway.url, 'legacy');
  await client.listTools();
  const before = sessions;
  expect(await outcomeOf(client.callTool({ name: 't' }))).toMatchObject({
    code: -32602,
    message: 'Bad argument',
  });
  expect([calls, sessions]).toEqual([1, before]);
  await client.close();
  await gateway.app.close();
  backend.close();
});

describe('an error of a backend', () => {
  const stack = 'Error: at /srv/secret.js:1';
  const errors = {
    internal: { code: -32603, message: 'connect ECONNREFUSED 10.0.0.7', data: { stack } },
    stacked: {
      code: -32602,
      message: 'Wrong size',
      data: { stack, field: 'size', errors: [{ stack, at: 1 }] },
    },
    forged: { code: -32603, message: 'first\nsecond' },
  };
  const missing = { code: -32002, message: 'ENOENT /srv/a', data: { uri: 'a://b', stack } };
  const secret = { message: 'connect ECONNREFUSED postgres://admin:pw@10.0.0.7', data: { error: { stack } } };
  const start = async (passthrough: boolean) => {
    const backend = await fakeBackend({
      'tools/call': ({ id, params, response }) => {
        response.writeHead(params['name'] === 'internal' ? 500 : 200, { 'content-type': 'application/json' });
        const name = params['name'] as keyof typeof errors | 'missing';
        const error = { missing, ...errors }[name] ?? { code: Number(name), ...secret };
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      },
    });
    const gateway = await startGateway({ backend: { url: backend.url }, passthrough });
    const client = await connect(gateway.url, 'modern');
    const outcome = (name: string) => outcomeOf(client.callTool({ name }));
    const close = async () => {
      await client.close();
      await gateway.app.close();
      backend.close();
    };
    return { gateway, outcome, close };
  };

  it('tells callers a reference for the text of an internal error, and no stack', async () => {
    const { gateway, outcome, close } = await start(false);
    const log = new LogSpy();
    gateway.app.useLogger(log);
    const { message } = (await outcome('internal')) as { message: string };
    const [, reference] = /^Internal error \(reference (.+)\)$/.exec(message) ?? [];
    expect(log.errors).toEqual([expect.stringContaining(`(reference ${reference})`)]);
    expect(log.errors[0]).toContain('10.0.0.7');
    expect(log.errors[0]).toContain('/srv/secret.js');
    expect(await outcome('internal')).toMatchObject({ code: -32603, data: undefined });
    expect(await outcome('stacked')).toEqual({
      ...errors.stacked,
      data: { field: 'size', errors: [{ at: 1 }] },
    });
    expect(await outcome('missing')).toEqual({
      code: -32602,
      message: 'Resource not found: a://b',
      data: { uri: 'a://b' },
    });
    await close();
  });

  it.each([0, 500, -32000, -32050])(
    'of the code %d, which MCP does not define, is a reference',
    async code => {
      const { gateway, outcome, close } = await start(false);
      const log = new LogSpy();
      gateway.app.useLogger(log);
      const { message, ...rest } = (await outcome(String(code))) as { message: string };
      expect(message).toMatch(/^Internal error \(reference .+\)$/);
      expect(rest).toEqual({ code, data: undefined });
      expect(log.errors.join()).toContain('postgres://');
      await close();
    },
  );

  it('stays in its line of the log', async () => {
    const { gateway, outcome, close } = await start(false);
    const log = new LogSpy();
    gateway.app.useLogger(log);
    await outcome('forged');
    expect(log.errors).toEqual([expect.stringContaining('first\\nsecond')]);
    await close();
  });

  it('is told as it is with passthrough', async () => {
    const { outcome, close } = await start(true);
    for (const [name, error] of Object.entries(errors)) expect(await outcome(name)).toEqual(error);
    await close();
  });
});
