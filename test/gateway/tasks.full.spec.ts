import { Injectable, type DynamicModule } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import type { McpGatewayOptions } from 'nestjs-mcp/gateway';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { createTestClient, type TestClient, type TestClientOptions } from 'nestjs-mcp/testing';
import { bearer, tokenOf, trusting } from '../auth/callers.js';
import { deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { textOf } from '../fixtures/matrix.js';
import { EXTENSION, send } from '../tasks/task-client.js';
import { backendModule } from './backend-app.js';
import { fakeBackend, type FakeBackend, type FakeCall } from './fake-backend.js';
import { ERAS, listen, outcomeOf, startGateway, type Running } from './support.js';
import { startTaskBackend, type TaskBackend } from './task-backend.js';

const SECRET = 'a secret of the gateways, of 32 bytes';
const ANY = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;
const DOWN = { message: 'The server behind this gateway cannot be reached; try again later' };
const UNKNOWN = { code: -32602, message: 'Unknown or expired task' };

@Injectable()
class Plain {
  @Tool()
  plain() {
    return 'plain';
  }
}

const protectedBy = () =>
  McpAuthModule.forRoot({
    server: 'gateway',
    resource: 'https://gateway.example/mcp',
    authorizationServers: ['https://login.example'],
    verifier: trusting,
  });

describe('tasks through a gateway', () => {
  const open: (() => unknown)[] = [];
  let backend: TaskBackend;

  beforeAll(async () => void (backend = await startTaskBackend()));
  beforeEach(() => Object.assign(backend.works, { gate: deferred(), entered: deferred() }));
  afterEach(async () => {
    backend.works.gate.resolve('over');
    for (const close of open.splice(0).reverse()) await close();
  });
  afterAll(() => backend.app.close());

  async function gatewayOf(
    options: Partial<McpGatewayOptions> = {},
    ...imports: DynamicModule[]
  ): Promise<Running> {
    const target = options.backends ? {} : { backend: { url: backend.url } };
    const gateway = await startGateway({ ...target, ...options }, [], 0, imports);
    open.push(() => gateway.app.close());
    return gateway;
  }

  async function clientOf(gateway: Running, options: TestClientOptions = {}): Promise<TestClient> {
    const client = await createTestClient(gateway.app, options);
    open.push(() => client.close());
    return client;
  }

  async function fake(...given: Parameters<typeof fakeBackend>): Promise<FakeBackend> {
    const server = await fakeBackend(...given);
    open.push(() => server.close());
    return server;
  }

  it('reach a client that declares the extension, with their results', async () => {
    const client = await clientOf(await gatewayOf());
    expect(client.getServerCapabilities()?.extensions).toEqual({ [EXTENSION]: {} });
    const task = await client.startTool({ name: 'work' });
    expect(await task.status()).toMatchObject({ taskId: task.id, status: 'working', pollIntervalMs: 50 });
    backend.works.gate.resolve('done');
    expect(textOf(await task.result())).toBe('done');
    expect(await task.status()).toMatchObject({ taskId: task.id, status: 'completed' });
    expect(textOf(await client.callTool({ name: 'needs' }))).toBe('needed');
    expect(textOf(await client.callTool({ name: 'plain' }))).toBe('plain');
  });

  it('ask the client, one by one', async () => {
    const client = await clientOf(await gatewayOf(), {
      onElicit: params => ({ action: 'accept', content: { name: params.message } }),
    });
    expect(textOf(await client.callTool({ name: 'asks' }))).toBe('accept first?, accept second?');

    const { url } = await gatewayOf();
    const { taskId } = (await send(url, 'tools/call', { name: 'asks', arguments: {} })).result!;
    const update = (inputResponses: object) => send(url, 'tasks/update', { taskId, inputResponses });
    const get = async () => (await send(url, 'tasks/get', { taskId })).result!;
    expect(Object.keys((await get())['inputRequests']!)).toEqual(['first', 'second']);
    await update({ second: { action: 'decline' }, never: { action: 'accept' } });
    expect(await get()).toMatchObject({
      status: 'input_required',
      inputRequests: { first: expect.anything() },
    });
    expect(Object.keys((await get())['inputRequests']!)).toEqual(['first']);
    expect((await update({ first: { action: 'cancel' } })).result).toMatchObject({ resultType: 'complete' });
  });

  it('end at the backend when the client cancels them', async () => {
    const client = await clientOf(await gatewayOf());
    const task = await client.startTool({ name: 'work' });
    const { signal, task: own } = await backend.works.entered.promise;
    expect(task.id).not.toBe(own!.id);
    const aborted = deferred();
    signal.addEventListener('abort', () => aborted.resolve());
    await task.cancel();
    await aborted.promise;
    expect(await task.status()).toMatchObject({ status: 'cancelled' });
  });

  it('are ordinary calls for a client that does not declare the extension', async () => {
    const gateway = await gatewayOf();
    const client = await clientOf(gateway, { tasks: false });
    backend.works.gate.resolve('done');
    expect(textOf(await client.callTool({ name: 'work' }))).toBe('done');
    expect((await backend.works.entered.promise).task).toBeUndefined();
    const missing = {
      code: -32021,
      data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
    };
    expect(await outcomeOf(client.callTool({ name: 'needs' }))).toMatchObject(missing);
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await send(gateway.url, method, { taskId: 'x' }, { declares: false });
      expect(answer).toMatchObject({ status: 400, error: missing });
    }
  });

  it('are ordinary calls for a 2025 client', async () => {
    const client = await clientOf(await gatewayOf(), {
      era: 'legacy',
      capabilities: { extensions: { [EXTENSION]: {} } },
    });
    backend.works.gate.resolve('done');
    expect(textOf(await client.callTool({ name: 'work' }))).toBe('done');
    expect((await backend.works.entered.promise).task).toBeUndefined();
    // The backend knows only the gateway, which speaks 2026-07-28 to it.
    expect(await outcomeOf(client.callTool({ name: 'needs' }))).toMatchObject({ code: -32021 });
    const get = client.request({ method: 'tasks/get', params: { taskId: 'x' } }, ANY);
    expect(await outcomeOf(get)).toMatchObject({ code: -32601 });
  });

  it('are found at the right one of several backends', async () => {
    const other = await startTaskBackend();
    open.push(() => other.app.close());
    const backends = { one: { url: backend.url }, two: { url: other.url } };
    const client = await clientOf(await gatewayOf({ backends }));
    const tasks = [
      await client.startTool({ name: 'one_work' }),
      await client.startTool({ name: 'two_work' }),
    ];
    other.works.gate.resolve('of the other');
    expect(textOf(await tasks[1].result())).toBe('of the other');
    expect(await tasks[0].status()).toMatchObject({ status: 'working' });
    backend.works.gate.resolve('of the first');
    expect(textOf(await tasks[0].result())).toBe('of the first');
  });

  it('pass two gateways', async () => {
    const inner = await gatewayOf();
    const client = await clientOf(await gatewayOf({ backends: { inner: { url: inner.url } } }), {
      onElicit: ({ message }) => ({ action: 'accept', content: { name: message } }),
    });
    expect(textOf(await client.callTool({ name: 'inner_asks' }))).toBe('accept first?, accept second?');
  });

  it('are unknown to another user of the same OAuth client', async () => {
    const { url } = await gatewayOf({}, protectedBy());
    const { result } = await send(url, 'tools/call', { name: 'work' }, { headers: bearer('ada') });
    const { taskId } = result!;
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const ask = async (id: unknown, user: string) =>
        send(url, method, { taskId: id, inputResponses: {} }, { headers: bearer(user) });
      const { headers: _ours, ...others } = await ask(taskId, 'bob');
      const { headers: _none, ...unknown } = await ask('unknown', 'bob');
      expect(others).toMatchObject({ status: 200, error: UNKNOWN });
      expect(others).toEqual(unknown);
    }
    const get = await send(url, 'tasks/get', { taskId }, { headers: bearer('ada', 'more') });
    expect(get.result).toMatchObject({ taskId, status: 'working' });
  });

  it('are answered by each node with the same secret', async () => {
    const [one, two, other] = [
      await gatewayOf({ mrtr: { secret: SECRET } }),
      await gatewayOf({ mrtr: { secret: SECRET } }),
      await gatewayOf(),
    ];
    const { taskId } = (await send(one.url, 'tools/call', { name: 'work' })).result!;
    expect((await send(two.url, 'tasks/get', { taskId })).result).toMatchObject({
      taskId,
      status: 'working',
    });
    expect((await send(other.url, 'tasks/get', { taskId })).error).toEqual(UNKNOWN);
    const forged = `${taskId!.slice(0, -1)}${taskId!.endsWith('A') ? 'B' : 'A'}`;
    expect((await send(one.url, 'tasks/get', { taskId: forged })).error).toEqual(UNKNOWN);
    const withoutHeader = await send(one.url, 'tasks/get', { taskId }, { headers: { 'mcp-name': '' } });
    expect(withoutHeader).toMatchObject({ status: 400, error: { code: -32020 } });
  });

  it('are not declared if no backend has them, whatever the application imports', async () => {
    const plain = await listen(backendModule('plain', false, {}, [Plain]));
    open.push(() => plain.app.close());
    const options = { backend: { url: plain.url } };
    const gateway = await gatewayOf(options, McpTasksModule.forRoot());
    const client = await clientOf(gateway);
    expect(client.getServerCapabilities()?.extensions).toBeUndefined();
    expect(textOf(await client.callTool({ name: 'plain' }))).toBe('plain');
    const answer = await send(gateway.url, 'tasks/get', { taskId: 'x' });
    expect(answer).toMatchObject({ status: 404, error: { code: -32601 } });
  });

  it('belong to the caller at the backend, too, with "tokenFor"', async () => {
    const own = await startTaskBackend([
      McpTasksModule.forRoot({ pollIntervalMs: 50 }),
      McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting }),
    ]);
    open.push(() => own.app.close());
    const gateway = await gatewayOf(
      {
        backend: {
          url: own.url,
          auth: { token: async () => tokenOf('gateway') },
          tokenFor: caller => tokenOf(`for${String(caller?.extra?.['sub'])}`),
        },
      },
      protectedBy(),
    );
    const client = await clientOf(gateway, { headers: bearer('ada') });
    const task = await client.startTool({ name: 'work' });
    expect((await own.works.entered.promise).authInfo?.extra).toEqual({ sub: 'forada' });
    own.works.gate.resolve('done');
    expect(textOf(await task.result())).toBe('done');
  });

  describe('of a backend by hand', () => {
    const TASK = { taskId: 't1', status: 'working', createdAt: 'now', lastUpdatedAt: 'now', ttlMs: null };
    const CREATED = {
      ...TASK,
      resultType: 'task',
      content: [{ type: 'text', text: 'past the interceptors' }],
    };
    const capabilities = { tools: {}, extensions: { [EXTENSION]: {} } };

    async function taskOf(answer: object, declared = capabilities): Promise<ReturnType<typeof send>> {
      const methods = {
        'tools/call': ({ reply }: FakeCall) => reply(CREATED),
        'tasks/get': ({ reply }: FakeCall) => reply({ ...TASK, ...answer }),
      };
      const { url } = await gatewayOf({ backend: { url: (await fake(methods, 'modern', declared)).url } });
      const created = await send(url, 'tools/call', { name: 't', arguments: {} });
      if (!created.result) return created;
      const { taskId } = created.result;
      const { resultType, _meta, ...fields } = created.result;
      expect(resultType).toBe('task');
      expect(fields).toEqual({ ...TASK, taskId });
      return send(url, 'tasks/get', { taskId });
    }

    it('show only the fields of their status', async () => {
      const { result } = await taskOf({ result: { content: [] }, secret: 'it' });
      expect(result).not.toHaveProperty('result');
      expect(result).not.toHaveProperty('secret');
    });

    it('leave out fields of a wrong type', async () => {
      const hidden = { secret: 'it' };
      const { result } = await taskOf({ ttlMs: hidden, pollIntervalMs: 'abc', statusMessage: [hidden] });
      const { resultType: _type, _meta, ...fields } = result!;
      const { ttlMs: _ttl, ...shown } = TASK;
      expect(fields).toEqual({ ...shown, taskId: expect.any(String) });
    });

    it('keep to themselves what their errors tell of the backend', async () => {
      const error = { code: -32050, message: 'disk /dev/sda is full', data: { host: 'db1' } };
      const { result } = await taskOf({ status: 'failed', statusMessage: error.message, error });
      expect(result).toMatchObject({ status: 'failed', error: { code: -32050 } });
      expect(JSON.stringify(result)).not.toMatch(/sda|db1/);
      const known = { code: -32602, message: 'No such year' };
      const { result: other } = await taskOf({ status: 'failed', error: known });
      expect(other).toMatchObject({ status: 'failed', statusMessage: 'No such year', error: known });
    });

    it.each([
      ['an unknown status', { status: 'lost' }],
      ['no result', { status: 'completed' }],
      ['no error', { status: 'failed' }],
      ['no input requests', { status: 'input_required' }],
    ])('are refused with %s', async (_, answer) => {
      expect((await taskOf(answer)).error).toMatchObject({
        code: -32603,
        message: 'The server behind this gateway gave an answer that is not valid',
      });
    });

    it('fail with a result that is not one', async () => {
      const { result } = await taskOf({ status: 'completed', result: { content: 'none' } });
      expect(result).toMatchObject({ status: 'failed', error: { code: -32603 } });
      expect(result).not.toHaveProperty('result');
    });

    it('stay when the backend is busy or down for a while', async () => {
      const refuse = ({ id, response }: FakeCall) => {
        response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'Too often' } }));
      };
      const methods = { 'tools/call': ({ reply }: FakeCall) => reply(CREATED), 'tasks/get': refuse };
      const busy = await fake(methods, 'modern', capabilities);
      const mrtr = { secret: SECRET };
      const { url } = await gatewayOf({ backend: { url: busy.url }, mrtr });
      const { taskId } = (await send(url, 'tools/call', { name: 't', arguments: {} })).result!;
      const refused = await send(url, 'tasks/get', { taskId });
      expect(refused).toMatchObject({
        status: 429,
        error: { code: -32000, message: 'The server behind this gateway is busy; try again later' },
      });
      expect(refused.headers.get('retry-after')).toBe('7');
      busy.close();
      const restarted = await gatewayOf({ backend: { url: busy.url }, mrtr });
      for (const one of [url, restarted.url]) {
        expect(await send(one, 'tasks/get', { taskId })).toMatchObject({ status: 503, error: DOWN });
      }
    });

    it('are refused if the backend has not declared them', async () => {
      expect((await taskOf({}, { tools: {} } as never)).error).toMatchObject({ code: -32603 });
    });
  });

  it.each(ERAS)('of 2025-11-25 hide their tools from a %s client, with one warning', async era => {
    const tools = ['required', 'optional', 'forbidden'].map(taskSupport => ({
      name: taskSupport,
      inputSchema: { type: 'object' },
      execution: { taskSupport },
    }));
    const old = await fake({ 'tools/list': ({ reply }) => reply({ tools }) }, 'legacy');
    const gateway = await gatewayOf({ backend: { url: old.url } });
    const log = new LogSpy();
    gateway.app.useLogger(log);
    const client = await clientOf(gateway, { era });
    for (let round = 0; round < 2; round += 1) {
      const shown = (await client.listTools()).tools.map(({ name }) => name);
      expect(shown).toEqual(['optional', 'forbidden']);
    }
    expect(log.warnings.filter(text => text.includes('2025-11-25'))).toEqual([
      expect.stringContaining('run only as tasks of 2025-11-25, so lists leave them out: required'),
    ]);
  });
});
