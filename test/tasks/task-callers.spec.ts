import { Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Ctx, McpContext, Tool, Validator, allow, type InterceptorInvocation } from 'nestjs-mcp';
import { McpTasks, McpTasksModule, type QueuedTask } from 'nestjs-mcp/tasks';
import { Inbox } from '../fixtures/inbox.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { send, WatchedTasks } from './task-client.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

interface Request {
  readonly headers: Record<string, string>;
  user?: object;
}

/** Sets `request.user` from a header, as the guard of an application sets it from a token. */
@Injectable()
class Login implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const { user } = request.headers;
    if (user) request.user = { id: user, role: 'clerk', visits: 1n };
    return true;
  }
}

@Injectable()
class Work {
  @Tool({ task: 'optional' })
  async asks(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('name', { message: 'Who?', schema: NAME });
    return `Hello, ${String(content?.['name'])}`;
  }

  @Tool({ task: 'optional' })
  @UseGuards(Login)
  guarded() {
    return 'done';
  }
}

let seen: string[];

@Injectable()
class Chain {
  @Validator({ events: ['tools/call'], phase: 'both' })
  note({ phase, context }: InterceptorInvocation) {
    const { type, id, claims } = context!.principal!;
    seen.push(`${phase} ${type} ${id} ${String(claims?.['role'])}`);
    return allow();
  }
}

describe('the caller of a task without OAuth', () => {
  let app: TestApp;
  let store: WatchedTasks;
  let queue: Inbox<QueuedTask>;

  const as = (user: string) => ({ headers: { user } });
  const call = async (name: string, user: string) =>
    (await send(await app.url(), 'tools/call', { name, arguments: {} }, as(user))).result!.taskId!;
  const get = async (taskId: string, user: string) =>
    send(await app.url(), 'tasks/get', { taskId }, as(user));

  async function start({ isQueued = true, hasLogin = true, maxPerCaller = 10 }): Promise<void> {
    queue = new Inbox();
    store = new WatchedTasks();
    const runner = { start: async (task: QueuedTask) => queue.put(JSON.parse(JSON.stringify(task))) };
    app = await startApp([Work, Chain], {
      platform: anyPlatform()[0],
      mcp: { mrtr: { secret: 's'.repeat(32), suspension: { maxPerCaller } } },
      configure: nest => hasLogin && nest.useGlobalGuards(new Login()),
      module: { imports: [McpTasksModule.forRoot({ store, ...(isQueued && { runner }) })] },
    });
  }

  beforeEach(() => (seen = []));
  afterEach(() => app.close());

  it('is the principal of the interceptors in a worker, too', async () => {
    await start({});
    const taskId = await call('asks', 'ada');
    const running = app.app.get(McpTasks).run(await queue.take());
    await store.untilStatus('input_required', taskId);
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    await send(await app.url(), 'tasks/update', { taskId, inputResponses }, as('ada'));
    await running;
    expect((await get(taskId, 'ada')).result).toMatchObject({ status: 'completed' });
    expect(seen).toEqual(['request user ada clerk', 'request user ada clerk', 'response user ada clerk']);
  });

  it('has its own limit of elicitations in a worker', async () => {
    await start({ maxPerCaller: 1 });
    const tasks = [await call('asks', 'eve'), await call('asks', 'ada')];
    const worker = app.app.get(McpTasks);
    const running = [worker.run(await queue.take()), worker.run(await queue.take())];
    const open = await Promise.all(tasks.map(id => store.until(({ status }) => status !== 'working', id)));
    expect(open.map(({ status }) => status)).toEqual(['input_required', 'input_required']);
    await send(await app.url(), 'tasks/cancel', { taskId: tasks[0] }, as('eve'));
    await send(await app.url(), 'tasks/cancel', { taskId: tasks[1] }, as('ada'));
    await Promise.all(running);
  });

  it('is the caller of the request, even if a guard of the handler sets another', async () => {
    await start({ isQueued: false, hasLogin: false });
    const taskId = await call('guarded', 'ada');
    await store.untilStatus('completed', taskId);
    expect((await get(taskId, 'ada')).result).toMatchObject({ status: 'completed' });
  });
});
