import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { tokenOf, trusting } from '../auth/callers.js';
import { WatchedTasks } from '../tasks/task-client.js';
import { startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';
const ALICE = { kind: 'token', token: tokenOf('alice') };
const BOB = { kind: 'token', token: tokenOf('bob') };
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const SECRET = 'ghp_1234567890abcdefghijABCDEFGHIJ123456';

@Injectable()
class Works {
  @Tool({ task: 'required' })
  async greet(@Ctx() ctx: McpContext) {
    ctx.task?.status(`Asking with ${SECRET}`);
    const { content } = await ctx.elicit('name', { message: 'Who?', schema: NAME });
    return `Hello, ${String(content?.['name'])}`;
  }

  @Tool({ task: 'optional' })
  fails() {
    throw new Error('unexpected');
  }
}

class FailingStore extends WatchedTasks {
  isAway = false;

  override async get(id: string) {
    if (this.isAway) throw new Error('The database is away');
    return super.get(id);
  }
}

describe('tasks in the explorer', () => {
  let app: ExploredApp;
  let store: FailingStore;
  beforeEach(async () => {
    store = new FailingStore();
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example.com/'],
      verifier: trusting,
    });
    app = await startExplored([Works], {
      mcp: { mrtr: { secret: 's'.repeat(32) } },
      module: { imports: [auth, McpTasksModule.forRoot({ store })] },
    });
  });
  afterEach(() => app.close());

  const call = async (method: string, params: object, more: object = {}) =>
    (
      await app.post(`${API}/call`, {
        server: 'test',
        caller: ALICE,
        method,
        params,
        confirmed: true,
        ...more,
      })
    ).json;
  const begin = async (name: string): Promise<string> => (await call('tools/call', { name })).task.id;
  const list = async () => app.post(`${API}/tasks`, { server: 'test' });

  it('become of calls of the page, which reads them, answers them and sees the result', async () => {
    const created = await call('tools/call', { name: 'greet' });
    expect(created).toMatchObject({
      outcome: 'task',
      inputRequests: [],
      task: { status: 'working', ttlMs: 3_600_000, pollIntervalMs: 1000 },
    });
    const taskId = created.task.id as string;
    await store.untilStatus('input_required', taskId);
    expect(await call('tasks/get', { taskId })).toMatchObject({
      outcome: 'task',
      task: { id: taskId, status: 'input_required' },
      inputRequests: [{ key: 'name', method: 'elicitation/create', params: { message: 'Who?' } }],
    });
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    expect(await call('tasks/update', { taskId }, { inputResponses })).toMatchObject({ outcome: 'result' });
    await store.untilStatus('completed', taskId);
    expect(await call('tasks/get', { taskId })).toMatchObject({
      outcome: 'task',
      task: { status: 'completed' },
      inputRequests: [],
      result: { value: { content: [{ type: 'text', text: 'Hello, Ada' }] } },
    });
  });

  it('are listed for operators, without arguments, elicitations, results and secrets', async () => {
    const first = await begin('greet');
    await store.until(({ status, statusMessage }) => status === 'input_required' && !!statusMessage, first);
    const second = await begin('fails');
    await store.untilStatus('completed', second);
    const { status, json } = await list();
    expect(status).toBe(200);
    const at = expect.any(String) as string;
    const known = { caller: 'alice', createdAt: at, lastUpdatedAt: at, ttlMs: 3_600_000 };
    expect(json).toEqual({
      more: 0,
      tasks: [
        { id: second, tool: 'fails', status: 'completed', inputRequests: 0, ...known },
        {
          ...{ id: first, tool: 'greet', status: 'input_required', inputRequests: 1, ...known },
          statusMessage: expect.stringMatching(/^Asking with (?!ghp_)/) as string,
        },
      ],
    });
  });

  it('of another server that shares the store cannot be cancelled', async () => {
    const taskId = await begin('greet');
    const foreign = { ...(await store.get(taskId))!, id: 'foreign', server: 'other' };
    await store.create(foreign);
    expect(await app.post(`${API}/cancel`, { server: 'test', id: 'foreign' })).toMatchObject({ status: 200 });
    expect(await store.get('foreign')).toEqual(foreign);
  });

  it('of another caller can be cancelled, but not read', async () => {
    const taskId = await begin('greet');
    expect(await call('tasks/get', { taskId }, { caller: BOB })).toMatchObject({
      outcome: 'error',
      error: { code: -32602, message: 'Unknown or expired task' },
    });
    const { status, json } = await app.post(`${API}/cancel`, { server: 'test', id: taskId });
    expect([status, json]).toEqual([200, {}]);
    expect((await list()).json.tasks).toMatchObject([{ id: taskId, status: 'cancelled' }]);
    expect(await call('tasks/get', { taskId })).toMatchObject({ task: { status: 'cancelled' } });
  });

  it('answer 503 while their store is away, and 400 for what is not an id', async () => {
    const taskId = await begin('greet');
    store.isAway = true;
    const away = { error: 'The store of the tasks cannot be reached' };
    expect(await list()).toMatchObject({ status: 503, json: away });
    expect(await app.post(`${API}/cancel`, { server: 'test', id: taskId })).toMatchObject({
      status: 503,
      json: away,
    });
    store.isAway = false;
    expect((await app.post(`${API}/cancel`, { server: 'test' })).status).toBe(400);
    expect((await app.post(`${API}/tasks`, { server: 'none' })).status).toBe(404);
  });

  it('are not read or cancelled from another origin', async () => {
    for (const path of ['tasks', 'cancel']) {
      const headers = { 'sec-fetch-site': 'cross-site' };
      expect((await app.post(`${API}/${path}`, { server: 'test' }, headers)).status).toBe(403);
      expect((await app.get(`${API}/${path}`)).status).toBe(405);
    }
  });
});

it('a server without McpTasksModule has no list of tasks', async () => {
  @Injectable()
  class Plain {
    @Tool()
    plain() {
      return 'plain';
    }
  }
  const app = await startExplored([Plain]);
  expect((await app.post(`${API}/tasks`, { server: 'test' })).json).toEqual({ more: 0 });
  expect((await app.post(`${API}/cancel`, { server: 'test', id: 'x' })).status).toBe(400);
  await app.close();
});
