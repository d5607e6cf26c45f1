import { Injectable, UseGuards, type CanActivate } from '@nestjs/common';
import { Args, Ask, Ctx, McpContext, McpException, Tool, Visible } from 'nestjs-mcp';
import { McpTasksModule, type McpTasksOptions } from 'nestjs-mcp/tasks';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { platforms, startApp, textOf, type TestApp, type Platform } from '../fixtures/matrix.js';
import { EXTENSION, send, WatchedTasks, type TaskRequestOptions } from './task-client.js';

const ANY = { type: 'object' } as const;
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

@Injectable()
class Nobody implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

/** The gates of the handlers, which the tests open. */
let gate: Deferred<string>;
let entered: Deferred<McpContext>;

class Works {
  @Tool({ task: 'optional' })
  async work(@Ctx() ctx: McpContext) {
    entered.resolve(ctx);
    return gate.promise;
  }

  @Tool({ task: 'required' })
  async needs(@Ctx() ctx: McpContext) {
    entered.resolve(ctx);
    return gate.promise;
  }

  @Tool({ task: { after: 3_600_000, ttlMs: 60_000, pollIntervalMs: 50 } })
  async later(@Args('begin') begin: string, @Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    if (begin === 'ask') {
      const { content } = await ctx.elicit('name', { message: 'Who?', schema: NAME });
      ctx.task!.status(`for ${String(content?.['name'])}`);
    }
    if (begin === 'begin') await ctx.task!.begin();
    if (begin === 'status') ctx.task!.status('reading');
    entered.resolve(ctx);
    return gate.promise;
  }

  @Tool({ task: { after: 1 } })
  async soon(@Ctx() ctx: McpContext) {
    entered.resolve(ctx);
    return gate.promise;
  }

  @Tool({ task: 'optional' })
  broken() {
    throw new Error('secret');
  }

  @Tool({ task: 'optional' })
  refuses() {
    throw new McpException(-32050, 'Not today', { day: 1 });
  }

  @Tool({ task: 'optional' })
  big() {
    return 'x'.repeat(2000);
  }

  @Tool({ task: 'optional' })
  @UseGuards(Nobody)
  guarded() {
    return 'never';
  }

  @Tool({ task: 'required' })
  @Visible(Nobody)
  hidden() {
    return 'never';
  }

  @Tool({ task: 'optional', inputSchema: NAME })
  checked({ name }: { name: string }) {
    return name;
  }

  @Tool({ task: 'required' })
  asked(@Ask('name', { message: 'Who?', schema: NAME }) { name }: { name: string }) {
    return `Hello, ${name}`;
  }

  @Tool({ task: 'optional' })
  async asks(@Ctx() ctx: McpContext) {
    const form = (message: string) => ctx.elicit('name', { message, schema: NAME });
    const both = await Promise.all([form('One?'), ctx.elicit('other', { message: 'Two?', schema: NAME })]);
    const third = await form('Three?');
    return [...both, third].map(({ content }) => content?.name).join(' ');
  }

  @Tool({ task: 'optional', inputSchema: ANY })
  plain() {
    return 'plain';
  }

  @Tool()
  never(@Ctx() ctx: McpContext) {
    return ctx.task ? 'a task' : 'no task';
  }
}

describe.each(platforms())('tasks on %s', platform => {
  let store: WatchedTasks;
  let app: TestApp;
  let url: string;
  const logger = new LogSpy();

  const call = (name: string, args: object = {}, options?: TaskRequestOptions) =>
    send(url, 'tools/call', { name, arguments: args }, options);
  const get = (taskId: unknown, options?: TaskRequestOptions) => send(url, 'tasks/get', { taskId }, options);
  const update = (taskId: unknown, inputResponses: unknown) =>
    send(url, 'tasks/update', { taskId, inputResponses });
  const cancel = (taskId: unknown) => send(url, 'tasks/cancel', { taskId });
  const started = async (name: string, args?: object) => (await call(name, args)).result!.taskId!;
  const ended = async (name: string, args?: object) => {
    const id = await started(name, args);
    await store.until(({ status }) => ['completed', 'failed', 'cancelled'].includes(status), id);
    return (await get(id)).result!;
  };

  beforeAll(async () => {
    store = new WatchedTasks();
    app = await startWith(platform, { store, maxResultBytes: 1000, pollIntervalMs: 10 });
    app.app.useLogger(logger);
    url = await app.url();
  });
  afterAll(() => app.close());
  beforeEach(() => {
    gate = deferred();
    entered = deferred();
  });
  afterEach(() => gate.resolve('done'));

  it('tells of the extension', async () => {
    const client = await app.client({ era: 'modern' });
    expect(client.getServerCapabilities()?.extensions).toEqual({ [EXTENSION]: {} });
  });

  it('answers with a task while the handler runs, and a poll finds it at once', async () => {
    const { result } = await call('work');
    expect(result).toMatchObject({
      resultType: 'task',
      status: 'working',
      ttlMs: 3_600_000,
      pollIntervalMs: 10,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    for (const field of ['result', 'error', 'inputRequests', 'requestState', 'content', 'task']) {
      expect(result).not.toHaveProperty(field);
    }
    const found = (await get(result!.taskId)).result!;
    expect(found).toMatchObject({ resultType: 'complete', status: 'working', taskId: result!.taskId });
    expect(found).not.toHaveProperty('result');
  });

  it('completes with the result of the tool', async () => {
    const id = await started('work');
    gate.resolve('a report');
    await store.untilStatus('completed', id);
    expect((await get(id)).result).toMatchObject({
      status: 'completed',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'a report' }] },
    });
  });

  it('completes if the tool reports an error', async () => {
    const done = await ended('broken');
    expect(done).toMatchObject({ status: 'completed', result: { isError: true } });
    expect(JSON.stringify(done)).not.toContain('secret');
  });

  it('fails for a protocol error', async () => {
    expect(await ended('refuses')).toMatchObject({
      status: 'failed',
      statusMessage: 'Not today',
      error: { code: -32050, message: 'Not today', data: { day: 1 } },
    });
  });

  it('fails if the result is too large', async () => {
    expect(await ended('big')).toMatchObject({
      status: 'failed',
      statusMessage: expect.stringContaining('maxResultBytes'),
    });
  });

  it.each([
    ['a guard refuses', 'guarded', {}, { error: { code: -32000 } }],
    ['the arguments are wrong', 'checked', {}, { result: { isError: true } }],
    ['the tool is unknown', 'nothing', {}, { error: { code: -32602 } }],
  ])('creates no task if %s', async (_, name, args, answer) => {
    const { length } = store.history;
    expect(await call(name, args)).toMatchObject(answer);
    expect(store.history).toHaveLength(length);
  });

  describe('for a client that has not declared the extension', () => {
    const undeclared = { declares: false };
    const missing = { code: -32021, data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } } };

    it('answers synchronously', async () => {
      gate.resolve('now');
      const { result } = await call('work', {}, undeclared);
      expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'now' }] });
    });

    it.each(['needs', 'asked'])('refuses %s, which needs a task', async name => {
      const { status, error } = await call(name, {}, undeclared);
      expect({ status, error }).toMatchObject({ status: 400, error: missing });
    });

    it('does not reveal a hidden tool', async () => {
      const unknown = await call('nothing', {}, undeclared);
      const hidden = await call('hidden', {}, undeclared);
      expect(hidden.error!.code).toBe(unknown.error!.code);
      expect(hidden.error!.message.replace('hidden', 'nothing')).toBe(unknown.error!.message);
    });

    it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])('refuses %s', async method => {
      const taskId = await started('work');
      const { error } = await send(url, method, { taskId, inputResponses: {} }, undeclared);
      expect(error).toMatchObject(missing);
    });
  });

  it('answers a 2025-era client synchronously, even if the tool needs a task', async () => {
    gate.resolve('now');
    const client = await app.client({ era: 'legacy' });
    expect(textOf(await client.callTool({ name: 'needs' }))).toBe('now');
  });

  it.each(['tasks/result', 'tasks/list'])('does not know %s', async method => {
    expect(await send(url, method, { taskId: 'x' })).toMatchObject({ error: { code: -32601 } });
  });

  it.each([
    ['tasks/get', '00000000-0000-4000-8000-000000000000'],
    ['tasks/update', '00000000-0000-4000-8000-000000000000'],
    ['tasks/cancel', '00000000-0000-4000-8000-000000000000'],
  ])('%s refuses an unknown task', async (method, taskId) => {
    expect(await send(url, method, { taskId, inputResponses: {} })).toMatchObject({
      error: { code: -32602 },
    });
  });

  it.each([
    ['missing', ''],
    ['of another task', 'other'],
  ])('refuses a request whose Mcp-Name is %s', async (_, name) => {
    const taskId = await started('work');
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await send(
        url,
        method,
        { taskId, inputResponses: {} },
        { headers: { 'mcp-name': name } },
      );
      expect(answer).toMatchObject({ status: 400, error: { code: -32020 } });
    }
  });

  describe('questions', () => {
    const accept = (name: string) => ({ action: 'accept', content: { name } });

    it('are input requests of the task, answered one by one', async () => {
      const id = await started('asks');
      await store.until(({ inputRequests = {} }) => Object.keys(inputRequests).length === 2, id);
      const { result } = await get(id);
      expect(result).toMatchObject({
        status: 'input_required',
        inputRequests: {
          name: { method: 'elicitation/create', params: { message: 'One?' } },
          other: { method: 'elicitation/create', params: { message: 'Two?' } },
        },
      });
      expect((await update(id, { name: accept('a') })).result).toEqual(
        expect.objectContaining({ resultType: 'complete' }),
      );
      const rest = (await get(id)).result!;
      expect(rest).toMatchObject({ status: 'input_required' });
      expect(Object.keys(rest['inputRequests'] as object)).toEqual(['other']);

      // Neither an answered nor an unknown key counts, whatever its value.
      const ignored = await update(id, { name: 17, unknown: null, other: accept('b') });
      expect(ignored.error).toBeUndefined();
      // The handler uses the key "name" again, the task does not.
      const third = await store.until(({ inputRequests = {} }) => 'name#2' in inputRequests, id);
      expect(Object.keys(third.inputRequests!)).toEqual(['name#2']);
      await update(id, { 'name#2': accept('c') });
      await store.untilStatus('completed', id);
      expect((await get(id)).result).toMatchObject({ result: { content: [{ text: 'a b c' }] } });
    });

    it.each([
      ['a wrong kind', { roots: [] }],
      ['a form that is not filled in as asked', { action: 'accept', content: { name: 17 } }],
      ['no object', 17],
    ])('stay open after an answer of %s', async (_, answer) => {
      const id = await started('asks');
      await store.until(({ inputRequests = {} }) => Object.keys(inputRequests).length === 2, id);
      expect(await update(id, { name: answer })).toMatchObject({ error: { code: -32602 } });
      expect((await get(id)).result).toMatchObject({ inputRequests: { name: {}, other: {} } });
      await cancel(id);
    });

    it('need answers in an object', async () => {
      const id = await started('work');
      expect(await update(id, undefined)).toMatchObject({ error: { code: -32602 } });
      expect(await update(id, 'yes')).toMatchObject({ error: { code: -32602 } });
    });

    it('of @Ask end before the task begins', async () => {
      const { result } = await call('asked');
      expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { name: {} } });
      const second = await send(url, 'tools/call', {
        name: 'asked',
        arguments: {},
        inputResponses: { name: accept('Ada') },
        requestState: result!['requestState'],
      });
      expect(second.result).toMatchObject({ resultType: 'task' });
      const id = second.result!.taskId!;
      await store.untilStatus('completed', id);
      expect((await get(id)).result).toMatchObject({ result: { content: [{ text: 'Hello, Ada' }] } });
    });

    it('before ctx.task.status() end the call', async () => {
      const { result } = await call('later', { begin: 'ask' });
      expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { name: {} } });
      const { result: task } = await send(url, 'tools/call', {
        name: 'later',
        arguments: { begin: 'ask' },
        inputResponses: { name: accept('Ada') },
        requestState: result!['requestState'],
      });
      expect(task).toMatchObject({ resultType: 'task', statusMessage: 'for Ada' });
    });
  });

  describe('with "after"', () => {
    it('answers a short call with its result', async () => {
      gate.resolve('quick');
      expect((await call('later', { begin: 'never' })).result).toMatchObject({
        resultType: 'complete',
        content: [{ text: 'quick' }],
      });
    });

    it.each(['begin', 'status'])('becomes a task with ctx.task.%s()', async begin => {
      const { result } = await call('later', { begin });
      expect(result).toMatchObject({ resultType: 'task', ttlMs: 60_000, pollIntervalMs: 50 });
      expect((await entered.promise).task!.id).toBe(result!.taskId);
    });

    it('becomes a task when the time is over', async () => {
      expect((await call('soon')).result).toMatchObject({ resultType: 'task' });
    });

    it('sends progress until the task begins', async () => {
      const meta = { progressToken: 1 };
      const quick = call('later', { begin: 'never' }, { meta });
      gate.resolve('quick');
      expect((await quick).headers.get('content-type')).toContain('text/event-stream');
      gate = deferred();
      const { headers } = await call('work', {}, { meta });
      expect(headers.get('content-type')).toContain('application/json');
      await (await entered.promise).reportProgress(1);
    });
  });

  it('shows the latest status message', async () => {
    const id = await started('work');
    const { task } = await entered.promise;
    task!.status('one');
    task!.status('two');
    await store.until(({ statusMessage }) => statusMessage === 'two', id);
    expect((await get(id)).result).toMatchObject({ status: 'working', statusMessage: 'two' });
  });

  describe('tasks/cancel', () => {
    it('aborts the signal of the handler, and is final', async () => {
      const id = await started('work');
      const { signal } = await entered.promise;
      expect((await cancel(id)).result).toEqual(expect.objectContaining({ resultType: 'complete' }));
      expect(signal.aborted).toBe(true);
      gate.resolve('too late');
      expect((await cancel(id)).error).toBeUndefined();
      const { result } = await get(id);
      expect(result).toMatchObject({ status: 'cancelled' });
      expect(result).not.toHaveProperty('result');
    });

    it('ends a question', async () => {
      const id = await started('asks');
      await store.untilStatus('input_required', id);
      await cancel(id);
      const { result } = await get(id);
      expect(result).toMatchObject({ status: 'cancelled' });
      expect(result).not.toHaveProperty('inputRequests');
      expect((await update(id, { name: { action: 'decline' } })).error).toBeUndefined();
    });

    it('leaves a completed task as it is', async () => {
      const id = await started('plain');
      await store.untilStatus('completed', id);
      expect((await cancel(id)).error).toBeUndefined();
      expect((await get(id)).result).toMatchObject({ status: 'completed' });
    });
  });

  it('goes on when the client of the call leaves', async () => {
    const leaving = new AbortController();
    const { result } = await call('work', {}, { signal: leaving.signal });
    leaving.abort();
    expect((await entered.promise).signal.aborted).toBe(false);
    gate.resolve('still here');
    await store.untilStatus('completed', result!.taskId);
  });

  it('ends with its client before it is a task', async () => {
    const leaving = new AbortController();
    const left = call('later', { begin: 'never' }, { signal: leaving.signal }).catch(() => 'left');
    const { signal } = await entered.promise;
    const aborted = new Promise(resolve => signal.addEventListener('abort', resolve));
    leaving.abort();
    expect(await left).toBe('left');
    await aborted;
  });

  it('has no ctx.task in calls that cannot become one', async () => {
    expect((await call('never')).result).toMatchObject({ content: [{ text: 'no task' }] });
  });

  it('refuses fast polls, but not the first one after a change', async () => {
    const id = await started('work');
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const polls = await Promise.all(Array.from({ length: 40 }, () => get(id)));
    clock.mockRestore();
    const refused = polls.filter(({ status }) => status === 429);
    // One poll after the creation, and those of one second.
    expect(refused).toHaveLength(40 - 21);
    expect(refused[0].headers.get('retry-after')).toBe('1');
    expect(refused[0].error).toMatchObject({ code: -32000 });
    await cancel(id);
    expect((await get(id)).result).toMatchObject({ status: 'cancelled' });
  });

  it('does not let its caller poll faster by requests that change nothing', async () => {
    const id = await started('asks');
    await store.until(({ inputRequests = {} }) => Object.keys(inputRequests).length === 2, id);
    const { revision } = store.latest.get(id)!;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const idle = await Promise.all(
      Array.from({ length: 21 }, (_, index) => update(id, index % 2 ? {} : { unknown: null })),
    );
    expect(store.latest.get(id)!.revision).toBe(revision);
    expect(idle.filter(({ error }) => error).map(({ status }) => status)).toEqual([429]);
    // The first poll that shows this revision
    expect((await get(id)).result).toMatchObject({ status: 'input_required' });
    expect(await get(id)).toMatchObject({ status: 429 });
    expect((await update(id, { name: { action: 'decline' } })).error).toBeUndefined();
    expect((await get(id)).result).toMatchObject({ status: 'input_required' });
    expect((await cancel(id)).error).toBeUndefined();
    expect(await cancel(id)).toMatchObject({ status: 429, error: { code: -32000 } });
    expect((await get(id)).result).toMatchObject({ status: 'cancelled' });
    clock.mockRestore();
  });

  it('logs nothing of all this, except the error of a tool', () => {
    expect(logger.errors.every(line => line.includes('secret'))).toBe(true);
    expect(logger.warnings).toEqual([]);
  });
});

const startWith = (platform: Platform, options: McpTasksOptions): Promise<TestApp> =>
  startApp([Works, Nobody], {
    platform,
    mcp: { mrtr: { secret: 's'.repeat(32) } },
    module: { imports: [McpTasksModule.forRoot(options)] },
  });
