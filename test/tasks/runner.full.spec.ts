import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { McpTasks, McpTasksModule, type QueuedTask, type TaskRunner } from 'nestjs-mcp/tasks';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { Inbox } from '../fixtures/inbox.js';
import { send, WatchedTasks } from './task-client.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

@Injectable()
class Work {
  @Tool({ task: 'optional' })
  async greet(@Ctx() ctx: McpContext) {
    return this.hello(ctx);
  }

  @Tool({ task: { retry: true } })
  async again(@Ctx() ctx: McpContext) {
    return this.hello(ctx);
  }

  private async hello(ctx: McpContext) {
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

const ADA = { name: { action: 'accept', content: { name: 'Ada' } } };

/** Only the date is fake. */
const REAL = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

class LateWatch extends WatchedTasks {
  beforeWatch?: () => Promise<unknown>;

  override async watch(...args: Parameters<WatchedTasks['watch']>) {
    await this.beforeWatch?.();
    return super.watch(...args);
  }
}

describe('a runner', () => {
  const apps: TestApp[] = [];
  afterEach(async () => {
    jest.useRealTimers();
    await Promise.all(apps.splice(0).map(app => app.close()));
  });

  async function start(store: WatchedTasks, runner: TaskRunner, leaseMs?: number): Promise<TestApp> {
    const app = await startApp([Work], {
      platform: anyPlatform()[0],
      mcp: { mrtr: { secret: 's'.repeat(32) } },
      module: { imports: [McpTasksModule.forRoot({ store, runner, leaseMs })] },
    });
    apps.push(app);
    return app;
  }

  function inMemory() {
    const queue = new Inbox<QueuedTask>();
    return { queue, runner: { start: async (task: QueuedTask) => queue.put(task) } };
  }

  beforeEach(() => (ran = []));

  it('runs the handler in another process, which shares the store', async () => {
    const store = new WatchedTasks();
    const { queue, runner } = inMemory();
    const url = await (await start(store, runner)).url();
    const worker = (await start(store, runner)).app.get(McpTasks);

    const { result } = await send(url, 'tools/call', { name: 'greet', arguments: {} });
    const taskId = result!.taskId!;
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    const task = await queue.take();
    expect(task).toEqual({ id: taskId, server: expect.any(String), run: 0, expiresAt: expect.any(Number) });
    expect(ran).toEqual([]);

    const running = worker.run(task);
    await store.untilStatus('input_required', taskId);
    // A queue may deliver a job twice, even while it runs.
    await worker.run(task);
    await send(url, 'tasks/update', { taskId, inputResponses: ADA });
    await running;
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'Hello, Ada' }] },
    });
    await worker.run(task);
    expect(ran).toEqual(['worker']);
  });

  it('queues a task with "retry" again when its worker shuts down', async () => {
    const store = new WatchedTasks();
    const { queue, runner } = inMemory();
    const [server, one, other] = [
      await start(store, runner, 500),
      await start(store, runner),
      await start(store, runner),
    ];
    const url = await server.url();
    const { result } = await send(url, 'tools/call', { name: 'again', arguments: {} });
    const taskId = result!.taskId!;

    const task = await queue.take();
    const first = one.app.get(McpTasks).run(task);
    await store.untilStatus('input_required', taskId);
    await one.close();
    await first;
    await expect(one.app.get(McpTasks).run(task)).rejects.toThrow('The application is shutting down');

    const requeued = await queue.take();
    expect(requeued).toMatchObject({ id: taskId, run: 2 });
    const second = other.app.get(McpTasks).run(requeued);
    await other.app.get(McpTasks).run(task);
    await send(url, 'tasks/update', { taskId, inputResponses: ADA });
    await second;
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'Hello, Ada' }] },
    });
    expect(ran).toEqual(['worker', 'worker']);
  });

  it('counts no lost run while it cannot queue a task again', async () => {
    const store = new WatchedTasks();
    const { queue, runner } = inMemory();
    const rejecting = jest.spyOn(runner, 'start');
    for (let count = 0; count < 6; count++) rejecting.mockRejectedValueOnce(new Error('The queue is down'));
    const now = new Date().toISOString();
    await store.create({
      ...{ id: 'lost', server: 'test', tool: 'again', owner: 'ada', status: 'working', retry: true },
      ...{ revision: 0, run: 1, createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, pollIntervalMs: 100 },
      expiresAt: Date.now() + 60_000,
      call: { requestId: 1, params: { name: 'again' }, protocolVersion: '2026-07-28' },
    });
    await store.lease('test', ['lost'], 0);
    await start(store, runner, 30);
    const task = await store.until(
      ({ status, lostRuns }) => status === 'failed' || (lostRuns === 1 && rejecting.mock.calls.length === 7),
    );
    expect(task).toMatchObject({ status: 'working', lostRuns: 1 });
    expect(rejecting).toHaveBeenCalledTimes(7);
    expect(await queue.take()).toMatchObject({ id: 'lost', run: 1 });
  });

  it('keeps a task that outlives its ttlMs, whichever process notices it first', async () => {
    const store = new WatchedTasks();
    const { queue, runner } = inMemory();
    const [server, other] = [await start(store, runner), await start(store, runner)];
    const url = await server.url();
    const { taskId } = (await send(url, 'tools/call', { name: 'greet', arguments: {} })).result!;
    const running = other.app.get(McpTasks).run(await queue.take());
    await store.untilStatus('input_required', taskId);
    // Tasks that only one process keeps, and deletes with its next look at expired tasks.
    const ended: string[] = [];
    for (const app of [server, other]) {
      const { result } = await send(await app.url(), 'tools/call', { name: 'late', arguments: {} });
      await store.untilStatus('completed', result!.taskId);
      ended.push(result!.taskId!);
    }
    jest.useFakeTimers({ doNotFake: REAL, now: Date.now() + 3_600_001 });
    await Promise.all(ended.map(id => store.untilDeleted(id)));
    await running;
    expect((await send(url, 'tasks/get', { taskId })).result).toMatchObject({ status: 'failed' });
    jest.setSystemTime(Date.now() + 60_001);
    await store.untilDeleted(taskId!);
  });

  it('skips a task that was cancelled in the queue', async () => {
    const store = new WatchedTasks();
    const { queue, runner } = inMemory();
    const app = await start(store, runner);
    const url = await app.url();
    const { result } = await send(url, 'tools/call', { name: 'greet', arguments: {} });
    await send(url, 'tasks/cancel', { taskId: result!.taskId });
    await app.app.get(McpTasks).run(await queue.take());
    expect(ran).toEqual([]);
  });

  it('waits with a task until its application has started', async () => {
    const store = new WatchedTasks();
    const { queue, runner } = inMemory();
    const url = await (await start(store, runner)).url();
    const { result } = await send(url, 'tools/call', { name: 'greet', arguments: {} });
    const task = await queue.take();
    const imports = [
      McpModule.forRoot({ name: task.server, version: '1.0.0' }),
      McpTasksModule.forRoot({ store, runner }),
    ];
    const module = await Test.createTestingModule({ imports, providers: [Work] }).compile();

    const running = module.get(McpTasks, { strict: false }).run(task);
    await module.init();
    await store.untilStatus('input_required', task.id);
    await send(url, 'tasks/cancel', { taskId: result!.taskId });
    await running;
    expect(ran).toEqual(['worker']);
    await module.close();
  });

  it('aborts the handler of a task that was cancelled before its worker watched it', async () => {
    const store = new LateWatch();
    const { queue, runner } = inMemory();
    const app = await start(store, runner);
    const url = await app.url();
    const { result } = await send(url, 'tools/call', { name: 'greet', arguments: {} });
    store.beforeWatch = () => send(url, 'tasks/cancel', { taskId: result!.taskId });
    // It would wait for an answer otherwise.
    await app.app.get(McpTasks).run(await queue.take());
    expect((await send(url, 'tasks/get', { taskId: result!.taskId })).result).toMatchObject({
      status: 'cancelled',
    });
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
    await expect(app.app.get(McpTasks).run({ id: 'x', server: 'other', run: 0 })).rejects.toThrow(
      'The application has no MCP server "other"',
    );
  });
});
