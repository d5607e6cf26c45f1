import { Injectable } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { Args, Ctx, McpContext, McpErrorCode, McpException, Mutator, Tool } from 'nestjs-mcp';
import type { InterceptorInvocation } from 'nestjs-mcp';
import { McpTasks, McpTasksModule, type TaskRunner } from 'nestjs-mcp/tasks';
import { McpMetrics, McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { send, WatchedTasks } from '../tasks/task-client.js';
import { Lines } from './lines.js';
import { Recorder } from './recorder.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const BOUNDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];
const HASH = expect.stringMatching(/^[\da-f]{32}$/) as string;

const own = (name: string) => trace.getTracer('app').startSpan(name).end();

let entered: Deferred;
let gate: Deferred;

@Injectable()
class Works {
  @Tool({ task: 'optional' })
  async asks(@Ctx() ctx: McpContext) {
    own('before');
    const { content } = await ctx.elicit('name', { message: 'Who?', schema: NAME });
    own('after');
    return `Hello, ${String(content?.['name'])}`;
  }

  @Tool({ task: { after: 60_000 } })
  async late(@Ctx() ctx: McpContext) {
    own('before');
    await ctx.task?.begin();
    own('after');
    return 'late';
  }

  @Tool({ task: { after: 60_000 } })
  early() {
    return 'early';
  }

  @Tool({ task: 'optional' })
  fails(@Args('as') as: string) {
    if (as === 'tool error') return { isError: true, content: [{ type: 'text' as const, text: 'No' }] };
    throw new McpException(McpErrorCode.InvalidParams, 'The year is in the future');
  }

  @Tool({ task: { retry: true } })
  async moves(@Ctx() ctx: McpContext) {
    entered.resolve();
    // The first run is given up by its process.
    if (ctx.request !== undefined) await gate.promise;
    return 'moved';
  }

  @Tool({ task: 'optional' })
  async waits(@Ctx() ctx: McpContext) {
    entered.resolve();
    await gate.promise;
    ctx.signal.throwIfAborted();
    return 'waited';
  }
}

@Injectable()
class Polite {
  @Mutator({ name: 'polite', events: ['tools/call'], phase: 'response' })
  polite({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    return payload;
  }
}

const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
const linksOf = ({ links }: ReadableSpan) =>
  links.map(({ context, attributes }) => [context.spanId, attributes?.['nestjs_mcp.link']]);

const recorder = new Recorder();
const open: TestApp[] = [];
beforeEach(() => {
  entered = deferred();
  gate = deferred();
});
/** When an application has closed, all its spans have ended. */
const close = () => Promise.all(open.splice(0).map(app => app.close()));
afterEach(close);
afterAll(() => recorder.close());

async function start(
  store = new WatchedTasks(),
  { telemetry = {}, ...options }: { runner?: TaskRunner; leaseMs?: number; telemetry?: object } = {},
) {
  const test = await startApp([Works, Polite], {
    platform: anyPlatform()[0],
    mcp: { mrtr: { secret: 's'.repeat(32) }, shutdownTimeoutMs: 100 },
    module: {
      imports: [McpTasksModule.forRoot({ store, ...options }), McpTelemetryModule.forRoot(telemetry)],
    },
  });
  open.push(test);
  recorder.reset();
  const url = await test.url();
  const call = async (name: string, args = {}) =>
    (await send(url, 'tools/call', { name, arguments: args })).result!;
  const answer = async (taskId: string | undefined) => {
    await store.untilStatus('input_required', taskId);
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    await send(url, 'tasks/update', { taskId, inputResponses });
    await store.untilStatus('completed', taskId);
  };
  return { test, store, url, call, answer };
}

describe('the span of a task', () => {
  it('links to its call, and holds the spans of the handler and its elicitations', async () => {
    const { call, answer } = await start();
    const { taskId } = await call('asks');
    await answer(taskId);
    await close();
    const creating = recorder.span('SERVER', 'tools/call asks');
    const task = recorder.span('INTERNAL', 'task asks');
    expect(creating.attributes).toMatchObject({ 'nestjs_mcp.result.type': 'task' });
    expect(parentOf(task)).toBeUndefined();
    expect(task.spanContext().traceId).not.toBe(creating.spanContext().traceId);
    expect(linksOf(task)).toEqual([[idOf(creating), 'call']]);
    expect(task.attributes).toEqual({
      'gen_ai.tool.name': 'asks',
      'nestjs_mcp.name': 'test',
      'nestjs_mcp.task.id': HASH,
      'nestjs_mcp.task.run': 1,
      'nestjs_mcp.task.status': 'completed',
    });
    const elicitation = recorder.span('CLIENT', 'elicitation/create');
    expect(elicitation.attributes).toEqual({
      'mcp.method.name': 'elicitation/create',
      'gen_ai.tool.name': 'asks',
      'nestjs_mcp.name': 'test',
      'nestjs_mcp.task.id': task.attributes['nestjs_mcp.task.id'],
    });
    const children = [elicitation, recorder.span('INTERNAL', 'before'), recorder.span('INTERNAL', 'after')];
    expect(children.map(parentOf)).toEqual(Array(3).fill(idOf(task)));
    // The response of a task passes the interceptors when the call is over.
    expect(task.events.map(({ attributes }) => attributes?.['nestjs_mcp.interceptor.name'])).toEqual([
      'polite',
    ]);
    expect(recorder.openSpans).toBe(0);
  });

  it('begins with the task if the handler runs before', async () => {
    const { call, store } = await start();
    await store.untilStatus('completed', (await call('late')).taskId);
    expect(await call('early')).toMatchObject({ resultType: 'complete' });
    await close();
    const task = recorder.span('INTERNAL', 'task late');
    const creating = recorder.span('SERVER', 'tools/call late');
    expect(linksOf(task)).toEqual([[idOf(creating), 'call']]);
    expect(parentOf(recorder.span('INTERNAL', 'before'))).toBe(idOf(creating));
    expect(parentOf(recorder.span('INTERNAL', 'after'))).toBe(idOf(task));
    expect(recorder.spansOf('INTERNAL', 'task early')).toEqual([]);
  });

  it.each([
    ['tool error', 'completed', 'tool_error', undefined],
    ['protocol error', 'failed', '-32602', 'The year is in the future'],
  ])('names a %s', async (as, status, errorType, message) => {
    const { call, store } = await start();
    await store.untilStatus(status as 'failed', (await call('fails', { as })).taskId);
    await close();
    const task = recorder.span('INTERNAL', 'task fails');
    expect(task.attributes).toMatchObject({ 'nestjs_mcp.task.status': status, 'error.type': errorType });
    expect(task.status).toEqual({ code: 2, ...(message !== undefined && { message }) });
  });

  it('ends when its client cancels the task', async () => {
    const { call, url, store } = await start();
    const { taskId } = await call('waits');
    await entered.promise;
    await send(url, 'tasks/cancel', { taskId });
    await store.untilStatus('cancelled', taskId);
    gate.resolve();
    await close();
    const task = recorder.span('INTERNAL', 'task waits');
    expect(task.attributes).toMatchObject({
      'nestjs_mcp.task.status': 'cancelled',
      'error.type': 'cancelled',
    });
  });

  it('has the result only if results are recorded', async () => {
    const { call, answer } = await start(undefined, { telemetry: { recordResults: true } });
    await answer((await call('asks')).taskId);
    await close();
    const { attributes } = recorder.span('INTERNAL', 'task asks');
    expect(attributes['gen_ai.tool.call.result']).toContain('Hello, Ada');
    expect(recorder.span('SERVER', 'tools/call asks').attributes).not.toHaveProperty(
      'gen_ai.tool.call.result',
    );
  });
});

it('a run in another process links to the call that created the task, and to what is around the run', async () => {
  const store = new WatchedTasks();
  const queue: Parameters<TaskRunner['start']>[0][] = [];
  const runner = { start: async (task: (typeof queue)[number]) => void queue.push(task) };
  const { call, answer } = await start(store, { runner });
  const worker = (await start(store, { runner })).test.app.get(McpTasks);
  const { taskId } = await call('asks');
  expect(recorder.spansOf('INTERNAL', 'task asks')).toEqual([]);
  const job = recorder.tracer.startActiveSpan('job', span => {
    const run = worker.run(queue[0]);
    return { span, run };
  });
  await answer(taskId);
  await job.run;
  job.span.end();
  await close();
  const task = recorder.span('INTERNAL', 'task asks');
  expect(parentOf(task)).toBeUndefined();
  expect(linksOf(task)).toEqual([
    [idOf(recorder.span('SERVER', 'tools/call asks')), 'call'],
    [job.span.spanContext().spanId, undefined],
  ]);
  expect(parentOf(recorder.span('INTERNAL', 'after'))).toBe(idOf(task));
});

it('a run after a shutdown links to the call that created the task', async () => {
  const store = new WatchedTasks();
  const { call, test } = await start(store, { leaseMs: 50 });
  await start(store, { leaseMs: 50 });
  const { taskId } = await call('moves');
  await entered.promise;
  await test.app.close();
  await store.untilStatus('completed', taskId);
  gate.resolve();
  await close();
  const creating = recorder.span('SERVER', 'tools/call moves');
  const runs = recorder.spansOf('INTERNAL', 'task moves');
  expect(runs.map(({ attributes }) => attributes['nestjs_mcp.task.status'])).toEqual([
    undefined,
    'completed',
  ]);
  const [first, second] = runs.map(({ attributes }) => Number(attributes['nestjs_mcp.task.run']));
  expect(second).toBeGreaterThan(first);
  expect(runs.map(linksOf)).toEqual(Array(2).fill([[idOf(creating), 'call']]));
});

it('counts kept and running tasks, and measures ended ones', async () => {
  const { call, url, store, test } = await start();
  const metrics = test.app.get(McpMetrics);
  const openOf = () => metrics.snapshot().servers['test'].open;
  const { taskId } = await call('waits');
  await entered.promise;
  expect(openOf()).toMatchObject({ tasks: 1, runningTasks: 1 });
  for (const name of ['nestjs_mcp.tasks', 'nestjs_mcp.running_tasks']) {
    expect(await recorder.metric(name)).toMatchObject({
      dataPoints: [{ value: 1, attributes: { 'nestjs_mcp.name': 'test' } }],
    });
  }
  gate.resolve();
  await store.untilStatus('completed', taskId);
  await call('fails', { as: 'tool error' });
  const failing = await call('fails', { as: 'protocol error' });
  await store.untilStatus('failed', failing.taskId);
  await send(url, 'tasks/cancel', { taskId: (await call('asks')).taskId });
  expect(metrics.snapshot().tasks).toEqual(
    [
      ['waits', 'completed'],
      ['fails', 'completed'],
      ['fails', 'failed'],
      ['asks', 'cancelled'],
    ].map(([tool, status]) => ({
      ...{ server: 'test', tool, status },
      duration: expect.objectContaining({ count: 1, bounds: BOUNDS }) as object,
    })),
  );
  const duration = await recorder.metric('nestjs_mcp.task.duration');
  expect(duration?.descriptor).toMatchObject({ unit: 's' });
  const { attributes, value } = duration!.dataPoints.find(
    one => one.attributes['nestjs_mcp.task.status'] === 'failed',
  )!;
  expect(attributes).toEqual({
    'gen_ai.tool.name': 'fails',
    'nestjs_mcp.task.status': 'failed',
    'nestjs_mcp.name': 'test',
  });
  expect(value).toMatchObject({ buckets: { boundaries: BOUNDS } });
  await close();
  expect(openOf()).toMatchObject({ runningTasks: 0 });
});

it('logs a call that became a task as such', async () => {
  const { call, test } = await start(undefined, { telemetry: { callLog: 'log' } });
  const lines = new Lines();
  test.app.useLogger(lines);
  await call('fails', { as: 'tool error' });
  await close();
  expect(lines.of('McpCalls')).toMatchObject([{ method: 'tools/call', name: 'fails', outcome: 'task' }]);
});
