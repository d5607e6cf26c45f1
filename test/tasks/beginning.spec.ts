import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { McpTasksModule, type McpTasksOptions, type StoredTask } from 'nestjs-mcp/tasks';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { send, WatchedTasks, type TaskRequestOptions } from './task-client.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const ADA = { name: { action: 'accept', content: { name: 'Ada' } } };
const AFTER = 3_600_000;

let entered: Deferred<McpContext>;
let gate: Deferred<string>;
let runs: number;

@Injectable()
class Works {
  @Tool({ task: { after: AFTER } })
  async asks(@Ctx() ctx: McpContext) {
    runs++;
    ctx.task!.status('reading');
    const { content } = await ctx.elicit('name', { message: 'Who?', schema: NAME });
    return `Hello, ${String(content?.['name'])}`;
  }

  @Tool({ task: { after: AFTER, retry: true } })
  async steps(@Ctx() ctx: McpContext) {
    ctx.task!.status('reading');
    await ctx.step('one', () => 1);
    entered.resolve(ctx);
    return gate.promise;
  }

  @Tool({ task: 'optional' })
  async says(@Ctx() ctx: McpContext) {
    for (let count = 1; count <= 1000; count++) ctx.task!.status(`${count}`);
    return 'done';
  }

  @Tool({ task: { after: AFTER } })
  async reads(@Ctx() ctx: McpContext) {
    ctx.task!.status('reading');
    await new Promise(setImmediate);
    entered.resolve(ctx);
    return gate.promise;
  }

  @Tool({ task: 'optional' })
  async work(@Ctx() ctx: McpContext) {
    entered.resolve(ctx);
    return gate.promise;
  }
}

/** Creates no task before its gate opens. */
class SlowTasks extends WatchedTasks {
  readonly creating = deferred();
  gate = deferred();
  writes = 0;

  override async create(task: StoredTask): Promise<void> {
    this.creating.resolve();
    await this.gate.promise;
    await super.create(task);
  }

  override replace(task: StoredTask): Promise<boolean> {
    this.writes++;
    return super.replace(task);
  }
}

describe('a task that is created', () => {
  let store: SlowTasks;
  let app: TestApp | undefined;

  beforeEach(() => {
    store = new SlowTasks();
    entered = deferred();
    gate = deferred();
    runs = 0;
  });
  afterEach(() => app?.close());

  async function start(options: McpTasksOptions = {}) {
    app = await startApp([Works], {
      platform: anyPlatform()[0],
      mcp: { mrtr: { secret: 's'.repeat(32) } },
      module: { imports: [McpTasksModule.forRoot({ store, pollIntervalMs: 10, ...options })] },
    });
    const url = await app.url();
    return {
      call: (name: string, args = {}, more?: TaskRequestOptions) =>
        send(url, 'tools/call', { name, arguments: args }, more),
      send: (method: string, params: object) => send(url, method, { ...params }),
    };
  }

  it('gets a question that is asked meanwhile', async () => {
    const { call, send: request } = await start();
    const called = call('asks');
    await store.creating.promise;
    store.gate.resolve();
    const { result } = await called;
    expect(result).toMatchObject({ resultType: 'task', statusMessage: 'reading' });
    const { taskId } = result!;
    await store.untilStatus('input_required', taskId);
    await request('tasks/update', { taskId, inputResponses: ADA });
    await store.untilStatus('completed', taskId);
    const { result: end } = await request('tasks/get', { taskId });
    expect(end).toMatchObject({ status: 'completed', result: { content: [{ text: 'Hello, Ada' }] } });
    expect(runs).toBe(1);
  });

  it('keeps a step that ends meanwhile', async () => {
    const { call } = await start();
    const called = call('steps');
    await store.creating.promise;
    store.gate.resolve();
    const id = (await called).result!.taskId!;
    await entered.promise;
    expect(JSON.stringify(store.latest.get(id)!.call!.journal)).toContain('"one"');
    gate.resolve('done');
    await store.untilStatus('completed', id);
  });

  it('gets the latest of many status messages, with few writes', async () => {
    store.gate.resolve();
    const { call } = await start();
    const id = (await call('says')).result!.taskId!;
    expect(await store.untilStatus('completed', id)).toMatchObject({ statusMessage: '1000' });
    expect(store.writes).toBeLessThan(5);
  });

  it('outlives a client that leaves meanwhile', async () => {
    const { call } = await start();
    const leaving = new AbortController();
    const gone = new Promise(resolve =>
      app!.app.getHttpServer().once('request', (_: unknown, response: ServerResponse) => {
        response.once('close', resolve);
      }),
    );
    const left = call('work', {}, { signal: leaving.signal }).catch(() => 'left');
    await store.creating.promise;
    leaving.abort();
    expect(await left).toBe('left');
    await gone;
    store.gate.resolve();
    expect((await entered.promise).signal.aborted).toBe(false);
    gate.resolve('done');
    await store.untilStatus('completed');
  });

  it('is left out if it is refused after its handler has begun', async () => {
    store.gate.resolve();
    const { call } = await start({ maxPerCaller: 1 });
    await call('work');
    await entered.promise;
    entered = deferred();
    const called = call('reads');
    expect((await entered.promise).signal.aborted).toBe(false);
    gate.resolve('done');
    expect((await called).result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
  });
});
