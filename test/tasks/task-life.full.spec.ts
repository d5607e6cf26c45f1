import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  Ctx,
  InputRequiredException,
  inputRequest,
  McpContext,
  McpServerRegistry,
  Mutator,
  Tool,
  Validator,
  allow,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { McpTasksModule, type McpTasksOptions } from 'nestjs-mcp/tasks';
import { bearer, trusting } from '../auth/callers.js';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { anyPlatform, startApp, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';
import { send, WatchedTasks, type TaskRequestOptions } from './task-client.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const trace = new AsyncLocalStorage<string>();

let gate: Deferred<string>;
let entered: Deferred<McpContext>;

@Injectable({ scope: Scope.REQUEST })
class Tenant {
  constructor(@Inject(REQUEST) private readonly request: { headers: Record<string, string> }) {}

  get name(): string | undefined {
    return this.request.headers['x-tenant'];
  }
}

@Injectable()
class Works {
  constructor(@Inject(Tenant) private readonly tenant: Tenant) {}

  @Tool({ task: 'optional' })
  async work(@Ctx() ctx: McpContext) {
    entered.resolve(ctx);
    const text = await gate.promise;
    const { headers } = ctx.request as { headers: Record<string, string> };
    return [text, this.tenant.name, trace.getStore(), headers['x-tenant']].join(' ');
  }

  @Tool({ task: 'optional' })
  async asks(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('name', { message: 'Who?', schema: NAME });
    return `Hello, ${String(content?.['name'])}`;
  }

  @Tool({ task: 'optional' })
  async throws(@Ctx() ctx: McpContext) {
    const known = await ctx.accepted('name', NAME);
    if (known) return `Hello, ${known['name'] as string}`;
    throw new InputRequiredException({
      inputRequests: { name: inputRequest.elicit({ message: 'Who?', schema: NAME }) },
    });
  }
}

interface Running {
  readonly app: TestApp;
  readonly store: WatchedTasks;
  readonly logger: LogSpy;
  send(
    method: string,
    params: Record<string, unknown>,
    options?: TaskRequestOptions,
  ): ReturnType<typeof send>;
}

let open: TestApp[] = [];

async function start(
  options: McpTasksOptions = {},
  {
    providers = [],
    imports = [],
    ...more
  }: TestAppOptions['module'] & Pick<TestAppOptions, 'mcp' | 'configure'> = {},
): Promise<Running> {
  const store = new WatchedTasks();
  const app = await startApp([Works, Tenant], {
    platform: anyPlatform()[0],
    mcp: { mrtr: { secret: 's'.repeat(32) }, ...more.mcp },
    configure: more.configure,
    module: { imports: [McpTasksModule.forRoot({ store, ...options }), ...imports], providers },
  });
  open.push(app);
  const logger = new LogSpy();
  app.app.useLogger(logger);
  const url = await app.url();
  return { app, store, logger, send: (...request) => send(url, ...request) };
}

const callOf = (name: string) => ['tools/call', { name, arguments: {} }] as const;

beforeEach(() => {
  gate = deferred();
  entered = deferred();
});
afterEach(async () => {
  gate.resolve('done');
  await Promise.all(open.map(app => app.close()));
  open = [];
});

it('keeps request-scoped providers, AsyncLocalStorage and ctx.request', async () => {
  const { store, send } = await start(
    {},
    {
      configure: app =>
        app.use((request: { headers: Record<string, string> }, _response: object, next: () => void) =>
          trace.run(`trace of ${request.headers['x-tenant']}`, next),
        ),
    },
  );
  const { result } = await send(...callOf('work'), { headers: { 'x-tenant': 'acme' } });
  gate.resolve('done');
  const { result: done } = await store.untilStatus('completed', result!.taskId);
  expect(done).toMatchObject({ content: [{ text: 'done acme trace of acme acme' }] });
});

describe('principals', () => {
  it('sees only its own tasks, even with the same OAuth client', async () => {
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example.com/'],
      verifier: trusting,
    });
    const { send } = await start({}, { imports: [auth] });
    const ada = { headers: bearer('ada') };
    const { result } = await send(...callOf('work'), ada);
    const { taskId } = result!;
    expect((await send('tasks/get', { taskId }, ada)).result).toMatchObject({ status: 'working' });
    const unknown = await send('tasks/get', { taskId: 'unknown' }, { headers: bearer('bob') });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await send(method, { taskId, inputResponses: {} }, { headers: bearer('bob') });
      expect(answer.error).toEqual(unknown.error);
    }
    expect((await entered.promise).signal.aborted).toBe(false);
    const { status } = await send('tasks/get', { taskId });
    expect(status).toBe(401);
  });
});

it('cancels the handler of a task even if the store fails once', async () => {
  const { store, send } = await start();
  const { taskId } = (await send(...callOf('work'))).result!;
  const { signal } = await entered.promise;
  const aborted = new Promise(resolve => signal.addEventListener('abort', resolve));
  const replace = store.replace.bind(store);
  jest.spyOn(store, 'replace').mockImplementationOnce(task => {
    // The next read is that of the process that runs the task.
    jest.spyOn(store, 'get').mockRejectedValueOnce(new Error('The connection was lost'));
    return replace(task);
  });
  await send('tasks/cancel', { taskId });
  await aborted;
});

describe('interceptors', () => {
  const seen: string[] = [];

  @Injectable()
  class Chain {
    @Validator({ events: ['tools/call', 'elicitation/create'], phase: 'both' })
    note({ event, phase }: InterceptorInvocation) {
      seen.push(`${event} ${phase}`);
      return allow();
    }

    @Mutator({ events: ['tools/call'], phase: 'response' })
    stamp({ payload }: InterceptorInvocation) {
      return { ...(payload as object), _meta: { stamped: true } };
    }
  }

  it('see the call once, its elicitation, and the final result before it is kept', async () => {
    const { store, send } = await start({}, { providers: [Chain] });
    const { result } = await send(...callOf('asks'));
    expect(result).toMatchObject({ resultType: 'task' });
    const { taskId } = result!;
    await store.untilStatus('input_required', taskId);
    await send('tasks/update', {
      taskId,
      inputResponses: { name: { action: 'accept', content: { name: 'Ada' } } },
    });
    const task = await store.untilStatus('completed', taskId);
    expect(task.result).toMatchObject({ content: [{ text: 'Hello, Ada' }], _meta: { stamped: true } });
    expect(seen).toEqual([
      'tools/call request',
      'elicitation/create request',
      'elicitation/create response',
      'tools/call response',
    ]);
  });
});

it('asks within the task for an InputRequiredException, and runs the handler again', async () => {
  const { store, send } = await start();
  const { result } = await send(...callOf('throws'));
  expect(result).toMatchObject({ resultType: 'task' });
  const { taskId } = result!;
  const { inputRequests } = await store.untilStatus('input_required', taskId);
  expect(inputRequests).toMatchObject({ name: { method: 'elicitation/create' } });
  await send('tasks/update', {
    taskId,
    inputResponses: { name: { action: 'accept', content: { name: 'Ada' } } },
  });
  const task = await store.untilStatus('completed', taskId);
  expect(task.result).toMatchObject({ content: [{ text: 'Hello, Ada' }] });
  expect(store.history.filter(({ revision }) => revision === 0)).toHaveLength(1);
});

describe('bounds', () => {
  it.each([
    ['of the caller', { maxPerCaller: 1 }, 429],
    ['of the server', { max: 1 }, 503],
  ])('refuses a task past the limit %s', async (_, options, status) => {
    const { send, store } = await start(options);
    await send(...callOf('work'));
    const refused = await send(...callOf('work'));
    expect(refused).toMatchObject({ status, error: { code: -32000 } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(store.size).toBe(1);
  });

  it('deletes the oldest ended task of a caller past its limit', async () => {
    const { send, store } = await start({ maxPerCaller: 2 });
    const begin = async (name: string) => (await send(...callOf(name))).result!.taskId!;
    const running = await begin('asks');
    const oldest = await begin('work');
    gate.resolve('done');
    await store.untilStatus('completed', oldest);
    const next = await begin('asks');
    expect(await send('tasks/get', { taskId: oldest })).toMatchObject({ error: { code: -32602 } });
    for (const taskId of [running, next]) {
      expect((await send('tasks/get', { taskId })).result).toMatchObject({ taskId });
    }
    expect(await send(...callOf('asks'))).toMatchObject({ status: 429 });
    await send('tasks/cancel', { taskId: running });
    const all = await Promise.all(Array.from({ length: 3 }, () => send(...callOf('asks'))));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
    expect(store.size).toBe(2);
  });

  it('bounds how often it looks for an ended task', async () => {
    const { send, store } = await start({ maxPerCaller: 1 });
    await send(...callOf('work'));
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const read = jest.spyOn(store, 'get');
    const refused = await Promise.all(Array.from({ length: 40 }, () => send(...callOf('work'))));
    clock.mockRestore();
    expect(refused.map(({ status }) => status)).toEqual(Array(40).fill(429));
    expect(read).toHaveBeenCalledTimes(20);
  });

  it('replaces ended tasks however fast they end', async () => {
    const { send, store } = await start({ maxPerCaller: 5 });
    gate.resolve('done');
    for (let count = 0; count < 60; count++) {
      const { taskId } = (await send(...callOf('work'))).result!;
      await store.untilStatus('completed', taskId);
    }
    expect(store.size).toBe(5);
  });

  it('leaves a share of the memory to other callers', async () => {
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example.com/'],
      verifier: trusting,
    });
    const store = new WatchedTasks(100_000);
    const { send, logger } = await start({ store }, { imports: [auth] });
    gate.resolve('x'.repeat(30_000));
    const outcome = async (name: string) => {
      const { taskId } = (await send(...callOf('work'), { headers: bearer(name) })).result!;
      await store.until(({ status }) => status !== 'working', taskId);
      return (await send('tasks/get', { taskId }, { headers: bearer(name) })).result;
    };
    expect(await outcome('ada')).toMatchObject({ status: 'completed' });
    expect(await outcome('ada')).toMatchObject({
      status: 'failed',
      statusMessage: 'The store is full',
      error: { code: -32000, message: 'The store is full' },
    });
    expect(await outcome('bob')).toMatchObject({ status: 'completed' });
    expect(logger.errors).toEqual([]);
    expect(logger.warnings).toEqual([expect.stringContaining('The store is full')]);
  });

  it('refuses a task that the store has no room for', async () => {
    const { send, logger } = await start({ store: new WatchedTasks(1) });
    expect(await send(...callOf('work'))).toMatchObject({
      status: 503,
      error: { code: -32000, message: 'The store is full' },
    });
    expect(logger.warnings).toEqual([expect.stringContaining('The store is full')]);
  });

  it('refuses a task that the store cannot keep', async () => {
    const { send, store, logger } = await start();
    jest.spyOn(store, 'create').mockRejectedValueOnce(new Error('The store is full'));
    expect(await send(...callOf('work'))).toMatchObject({ status: 503, error: { code: -32000 } });
    expect(logger.warnings).toEqual([expect.stringContaining('The store is full')]);
  });

  it('fails a task past its ttlMs that no node keeps', async () => {
    const { send, store } = await start({ ttlMs: 60_000 });
    const { taskId } = (await send(...callOf('work'))).result!;
    // As if the node that looks for it had ended.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
    expect((await send('tasks/get', { taskId })).result).toMatchObject({ status: 'failed' });
    clock.mockRestore();
    await store.untilStatus('failed', taskId);
  });

  it('fails and then forgets a task that outlives its ttlMs', async () => {
    const { send, store } = await start({ ttlMs: 1, maxPerCaller: 1 });
    const { taskId } = (await send(...callOf('work'))).result!;
    const { signal } = await entered.promise;
    const task = await store.untilStatus('failed', taskId);
    expect(task.statusMessage).toContain('ttlMs');
    expect((await send('tasks/get', { taskId })).result).toMatchObject({
      status: 'failed',
      error: { code: -32000 },
    });
    expect(signal.aborted).toBe(true);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 120_000);
    await store.untilDeleted(taskId!);
    clock.mockRestore();
    expect(await send('tasks/get', { taskId })).toMatchObject({ error: { code: -32602 } });
    expect((await send(...callOf('work'))).result).toMatchObject({ resultType: 'task' });
  });
});

describe('a shutdown', () => {
  it('waits for tasks', async () => {
    const { app, send, store } = await start();
    const { taskId } = (await send(...callOf('work'))).result!;
    const closed = app.close();
    gate.resolve('in time');
    await closed;
    expect(store.latest.get(taskId!)).toMatchObject({ status: 'completed' });
  });

  it.each(['work', 'asks'])('fails a task that does not end: %s', async name => {
    const { app, send, store } = await start(
      {},
      { mcp: { shutdownTimeoutMs: name === 'work' ? 1 : 60_000 } },
    );
    const { taskId } = (await send(...callOf(name))).result!;
    if (name === 'asks') await store.untilStatus('input_required', taskId);
    await app.close();
    expect(store.latest.get(taskId!)).toMatchObject({
      status: 'failed',
      statusMessage: 'The server is shutting down',
      error: { code: -32000 },
    });
  });
});

describe('the start', () => {
  const broken = async (options: object, imports: object[] = [McpTasksModule.forRoot()]) => {
    class Tools {
      @Tool(options)
      tool() {
        return '';
      }
    }
    const started = startApp([Tools], { module: { imports: imports as never } });
    return started.then(
      async app => {
        await app.close();
        return 'started';
      },
      (error: Error) => error.message,
    );
  };

  it.each([
    [{ task: 'always' }],
    [{ task: { mode: 'sometimes' } }],
    [{ task: { after: -1 } }],
    [{ task: { ttl: 1 } }],
    [{ task: true }],
  ])('stops for %j', async options => {
    expect(await broken(options)).toMatch(/Tools\.tool.*task/);
  });

  it('stops without the module', async () => {
    expect(await broken({ task: 'optional' }, [])).toContain(
      '"task" on the server "test" needs McpTasksModule',
    );
  });

  it('stops for an option that nobody has', async () => {
    expect(await broken({ descripton: 'x' })).toContain('the option "descripton"');
  });

  it.each([[{ ttlMs: 0 }], [{ store: {} }], [{ maxTasks: 1 }]])('stops for the options %j', async options => {
    expect(await broken({}, [McpTasksModule.forRoot(options as McpTasksOptions)])).toContain(
      'McpTasksModule',
    );
  });

  it('takes options from a factory', async () => {
    const options = McpTasksModule.forRootAsync({ useFactory: () => ({ ttlMs: 0 }) });
    expect(await broken({}, [options])).toContain('"ttlMs"');
    expect(await broken({}, [McpTasksModule.forRootAsync({ useFactory: async () => ({ ttlMs: 1 }) })])).toBe(
      'started',
    );
  });

  it('also checks tools that are added at run time', async () => {
    const { app, send } = await start();
    const registry = app.app.get(McpServerRegistry, { strict: false });
    const add = (task: unknown) =>
      registry.add('tool', { name: 'added', inputSchema: { type: 'object' }, task } as never, () => 'added');
    await expect(add('always')).rejects.toThrow('task');
    await add('required');
    expect((await send(...callOf('added'))).result).toMatchObject({ resultType: 'task' });
  });
});
