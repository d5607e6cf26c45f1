import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { McpTasks, McpTasksModule, type TaskRunner } from 'nestjs-mcp/tasks';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { send, WatchedTasks } from './task-client.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

@Injectable()
class Work {
  @Tool({ task: 'optional' })
  async greet(@Ctx() ctx: McpContext) {
    ran.push(ctx.request === undefined ? 'worker' : 'server');
    const { content } = await ctx.elicit('name', { message: 'Who?', schema: NAME });
    return `Hello, ${String(content?.['name'])}`;
  }

  @Tool({ task: { after: 1 } })
  async late(@Ctx() ctx: McpContext) {
    await ctx.task?.begin();
    return 'here';
  }
}

let ran: string[];

describe('a runner', () => {
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map(app => app.close())));

  async function start(store: WatchedTasks, runner: TaskRunner): Promise<TestApp> {
    const app = await startApp([Work], {
      platform: anyPlatform()[0],
      mcp: { mrtr: { secret: 's'.repeat(32) } },
      module: { imports: [McpTasksModule.forRoot({ store, runner })] },
    });
    apps.push(app);
    return app;
  }

  beforeEach(() => (ran = []));

  it('runs the handler in another process, which shares the store', async () => {
    const store = new WatchedTasks();
    const queue: Parameters<TaskRunner['start']>[0][] = [];
    const runner = { start: async (task: (typeof queue)[number]) => void queue.push(task) };
    const url = await (await start(store, runner)).url();
    const worker = (await start(store, runner)).app.get(McpTasks);

    const { result } = await send(url, 'tools/call', { name: 'greet', arguments: {} });
    const { taskId } = result!;
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    expect(queue).toMatchObject([{ id: taskId, server: expect.any(String), run: 0 }]);
    expect(ran).toEqual([]);

    const running = worker.run(queue[0]);
    await store.untilStatus('input_required', taskId);
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    await send(url, 'tasks/update', { taskId, inputResponses });
    await running;
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'Hello, Ada' }] },
    });
    expect(ran).toEqual(['worker']);
    // A queue may deliver a job twice.
    await worker.run(queue[0]);
    expect(ran).toEqual(['worker']);
  });

  it('refuses the call if it cannot queue the task', async () => {
    const store = new WatchedTasks();
    const failing = { start: async () => Promise.reject(new Error('The queue is down')) };
    const url = await (await start(store, failing)).url();
    const { status, error } = await send(url, 'tools/call', { name: 'greet', arguments: {} });
    expect([status, error?.code]).toEqual([503, -32000]);
    await store.untilDeleted([...store.latest.keys()][0] ?? '');
    expect(store.size).toBe(0);
  });

  it('leaves tasks with "after" in the process of their call', async () => {
    const store = new WatchedTasks();
    const queued = jest.fn();
    const url = await (await start(store, { start: queued })).url();
    const { result } = await send(url, 'tools/call', { name: 'late', arguments: {} });
    await store.untilStatus('completed', result!.taskId);
    expect(queued).not.toHaveBeenCalled();
  });

  it('needs the server of the task', async () => {
    const app = await start(new WatchedTasks(), { start: jest.fn() });
    await expect(app.app.get(McpTasks).run({ id: 'x', server: 'other' })).rejects.toThrow(
      'The application has no MCP server "other"',
    );
  });
});
