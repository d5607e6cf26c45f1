import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { McpTasksModule, type McpTasksOptions, type QueuedTask } from 'nestjs-mcp/tasks';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { Inbox } from '../fixtures/inbox.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { send, WatchedTasks } from './task-client.js';

/** A store that reports which leases are renewed, and holds tasks of a process that has died. */
class LeasedTasks extends WatchedTasks {
  readonly renewals = new Inbox<readonly string[]>();

  override async lease(...args: Parameters<WatchedTasks['lease']>) {
    await super.lease(...args);
    this.renewals.put(args[1]);
  }

  async lose(id: string): Promise<void> {
    const at = new Date().toISOString();
    await this.create({
      ...{ id, server: 'test', tool: 'again', owner: 'ada', revision: 0, status: 'working', run: 1 },
      ...{ createdAt: at, lastUpdatedAt: at, ttlMs: 60_000, pollIntervalMs: 50, retry: true },
      expiresAt: Date.now() + 60_000,
      call: { requestId: 1, params: { name: 'again', arguments: {} }, protocolVersion: '2026-07-28' },
    });
    await super.lease('test', [id], 0);
  }
}

let begun: Inbox<Deferred>;
let running: number;
let most: number;

@Injectable()
class Work {
  @Tool({ task: { retry: true } })
  async again() {
    const gate = deferred();
    most = Math.max(most, ++running);
    begun.put(gate);
    await gate.promise;
    running--;
    return 'done';
  }

  @Tool({ task: { after: 3_600_000 } })
  async here(@Ctx() ctx: McpContext) {
    await ctx.task!.begin();
    const gate = deferred();
    begun.put(gate);
    await gate.promise;
    return 'done';
  }
}

describe('tasks of a process that has died', () => {
  let store: LeasedTasks;
  let app: TestApp;

  async function start(options: McpTasksOptions): Promise<void> {
    app = await startApp([Work], {
      platform: anyPlatform()[0],
      module: { imports: [McpTasksModule.forRoot({ store, leaseMs: 300, ...options })] },
    });
  }

  beforeEach(() => {
    store = new LeasedTasks();
    begun = new Inbox();
    running = most = 0;
  });
  afterEach(() => app.close());

  it('do not keep a node from renewing its leases while its queue does not answer', async () => {
    const queue = new Inbox<QueuedTask>();
    const added = deferred();
    const runner = {
      start: async (task: QueuedTask) => {
        queue.put(task);
        await added.promise;
      },
    };
    await store.lose('lost');
    await start({ runner });
    const { result } = await send(await app.url(), 'tools/call', { name: 'here', arguments: {} });
    const gate = await begun.take();
    expect(await queue.take()).toMatchObject({ id: 'lost' });
    for (let renewed = 0; renewed < 5;)
      if ((await store.renewals.take()).includes(result!.taskId!)) renewed++;
    gate.resolve();
    await store.untilStatus('completed', result!.taskId);
    added.resolve();
    // The task of the hung queue was leased, too, so that nobody has queued it twice.
    expect(await store.until(({ lostRuns }) => lostRuns !== undefined, 'lost')).toMatchObject({
      status: 'working',
      lostRuns: 1,
    });
  });

  it('are run by another node up to its "max"', async () => {
    const ids = ['1', '2', '3', '4', '5'];
    for (const id of ids) await store.lose(id);
    await start({ max: 2 });
    const gates = [await begun.take(), await begun.take()];
    for (let renewed = 0; renewed < 5;) if ((await store.renewals.take()).length > 1) renewed++;
    expect(most).toBe(2);
    for (const _ of ids) (gates.shift() ?? (await begun.take())).resolve();
    await Promise.all(ids.map(id => store.untilStatus('completed', id)));
    expect(most).toBe(2);
  });
});
