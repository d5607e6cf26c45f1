import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { createTestClient, type TestClientOptions } from 'nestjs-mcp/testing';
import type { TaskPassingClient } from '../../lib/connection/task-client.js';
import { bearer, tokenOf, trusting } from '../auth/callers.js';
import { deferred } from '../fixtures/deferred.js';
import { send } from '../tasks/task-client.js';
import { outcomeOf, startGateway, type Running } from './support.js';
import { startTaskBackend, type TaskBackend } from './task-backend.js';

type Task = Readonly<Record<string, unknown>>;

const protectedBy = (server?: string) =>
  McpAuthModule.forRoot({
    ...(server && { server, resource: 'https://gateway.example/mcp' }),
    authorizationServers: ['https://login.example'],
    verifier: trusting,
  });

const serverOf = ({ app }: Running) => app.getHttpServer() as Server;

describe('subscriptions/listen with taskIds, through a gateway', () => {
  let backends: TaskBackend[];
  let gateway: Running;
  const open: (() => unknown)[] = [];

  beforeAll(async () => {
    backends = await Promise.all([startTaskBackend(), startTaskBackend()]);
    const [one, two] = backends;
    gateway = await startGateway({ backends: { one: { url: one.url }, two: { url: two.url } } });
  });
  beforeEach(() => {
    for (const { works } of backends) Object.assign(works, { gate: deferred(), entered: deferred() });
  });
  afterEach(async () => {
    for (const { works } of backends) works.gate.resolve('over');
    for (const close of open.splice(0).reverse()) await close();
  });
  afterAll(async () => {
    await gateway.app.close();
    for (const { app } of backends) await app.close();
  });

  const start = async (name: string): Promise<string> =>
    (await send(gateway.url, 'tools/call', { name, arguments: {} })).result!.taskId!;

  /** A client that collects what it is told of tasks. */
  async function clientOf({ app }: Running, options: TestClientOptions = {}) {
    const client = (await createTestClient(app, options)) as unknown as TaskPassingClient;
    open.push(() => client.close());
    const told: Task[] = [];
    let wake = () => {};
    client.fallbackNotificationHandler = async ({ method, params = {} }) => {
      if (method === 'notifications/tasks') told.push(params);
      wake();
    };
    /** Resolves to the first notification of the task with a status, behind those that are skipped. */
    const until = async (taskId: string, status: string, skipped = 0): Promise<Task> => {
      for (;;) {
        const found = told
          .slice(skipped)
          .find(task => task['taskId'] === taskId && task['status'] === status);
        if (found) return found;
        await new Promise<void>(resolve => (wake = resolve));
      }
    };
    const listen = (taskIds: unknown) => client.listen({ taskIds } as never);
    return { client, told, until, listen };
  }

  it('reports the tasks of several backends, by the ids that the client has', async () => {
    const ids = [await start('one_work'), await start('two_work')];
    const { told, until, listen } = await clientOf(gateway);
    const stream = await listen([...ids, 'unknown']);
    for (const id of ids) await until(id, 'working');
    backends[1].works.gate.resolve('done');
    expect(await until(ids[1], 'completed')).toMatchObject({ result: { content: [{ text: 'done' }] } });
    const {
      resultType: _type,
      _meta: _own,
      ...shown
    } = (await send(gateway.url, 'tasks/get', { taskId: ids[1] })).result!;
    const { _meta: _stream, ...last } = await until(ids[1], 'completed');
    expect(last).toEqual(shown);
    expect(new Set(told.map(({ taskId }) => taskId))).toEqual(new Set(ids));
    await stream.close();
  });

  it('reports each of two streams on its own', async () => {
    const id = await start('one_work');
    const [one, two] = [await clientOf(gateway), await clientOf(gateway)];
    await one.listen([id]);
    await two.listen([id]);
    await Promise.all([one.until(id, 'working'), two.until(id, 'working')]);
    backends[0].works.gate.resolve('done');
    await Promise.all([one.until(id, 'completed'), two.until(id, 'completed')]);
    for (const { told } of [one, two]) {
      expect(told.filter(({ status }) => status === 'completed')).toHaveLength(1);
    }
  });

  it('goes on after the stream to the backend has broken', async () => {
    const id = await start('one_work');
    const { told, until, listen } = await clientOf(gateway);
    await listen([id]);
    await until(id, 'working');
    const known = told.length;
    serverOf(backends[0]).closeAllConnections();
    await until(id, 'working', known);
    backends[0].works.gate.resolve('done');
    await until(id, 'completed');
  });

  it('leaves out the tasks of a backend that is down', async () => {
    const lost = await startTaskBackend();
    const shared = await startGateway({
      backends: { one: { url: backends[0].url }, two: { url: lost.url } },
    });
    open.push(() => shared.app.close());
    const [kept, gone] = await Promise.all(
      ['one_needs', 'two_needs'].map(
        async name => (await send(shared.url, 'tools/call', { name })).result!.taskId!,
      ),
    );
    await lost.app.close();
    const { client } = await clientOf(shared);
    const { taskIds } = await client.listenToTasks([gone, kept], () => undefined, {});
    expect(taskIds).toEqual([kept]);
  });

  it('ends the stream to the backend with that of the client', async () => {
    const id = await start('one_work');
    const { listen } = await clientOf(gateway);
    const listened = once(serverOf(backends[0]), 'request') as Promise<[unknown, ServerResponse]>;
    const stream = await listen([id]);
    const [, response] = await listened;
    const closed = once(response, 'close');
    await stream.close();
    await closed;
    expect(response.writableFinished).toBe(false);
  });

  it('refuses a client that does not declare the extension', async () => {
    const { listen } = await clientOf(gateway, { tasks: false });
    expect(await outcomeOf(listen(['x']))).toMatchObject({ code: -32021 });
    const declaring = await clientOf(gateway);
    expect(await outcomeOf(declaring.listen(['x', 7]))).toMatchObject({ code: -32602 });
  });

  it('leaves out the tasks of other users, and listens as the user of the call', async () => {
    const own = await startTaskBackend([McpTasksModule.forRoot(), protectedBy()]);
    open.push(() => own.app.close());
    const backend = {
      url: own.url,
      auth: { token: async () => tokenOf('gateway') },
      tokenFor: (caller?: { extra?: Record<string, unknown> }) =>
        tokenOf(`for${String(caller?.extra?.['sub'])}`),
    };
    const shared = await startGateway({ backend }, [], 0, [protectedBy('gateway')]);
    open.push(() => shared.app.close());
    const { result } = await send(shared.url, 'tools/call', { name: 'work' }, { headers: bearer('ada') });
    const taskId = result!.taskId!;
    const ada = await clientOf(shared, { headers: bearer('ada') });
    await ada.listen([taskId]);
    await ada.until(taskId, 'working');
    for (const [user, accepted] of [
      ['bob', []],
      ['ada', [taskId]],
    ] as const) {
      const { client } = await clientOf(shared, { headers: bearer(user) });
      const { taskIds } = await client.listenToTasks([taskId, 'unknown'], () => undefined, {});
      expect(taskIds).toEqual(accepted);
    }
    own.works.gate.resolve('done');
  });
});
