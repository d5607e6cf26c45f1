import { Injectable } from '@nestjs/common';
import { Ctx, deny, Mutator, Tool, Validator, type InterceptorInvocation, type McpContext } from 'nestjs-mcp';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { send, WatchedTasks } from './task-client.js';

type Progress = InterceptorInvocation<'notifications/progress', 'request'>;

class Works {
  @Tool({ task: 'optional' })
  work(@Ctx() ctx: McpContext) {
    for (const message of ['begins', 'a secret', 'used token-123']) ctx.task!.status(message);
    return 'done';
  }

  @Tool({ task: { after: 60_000 } })
  later(@Ctx() ctx: McpContext) {
    ctx.task!.status('a secret');
    return 'done';
  }
}

@Injectable()
class Policy {
  @Validator({ events: ['notifications/progress'] })
  async check({ payload }: Progress) {
    return !payload.message?.includes('secret') || deny('Not that');
  }

  @Mutator({ events: ['notifications/progress'] })
  hide({ payload }: Progress) {
    return { ...payload, message: payload.message?.replace('token-123', '***') };
  }
}

describe('the status messages of a task', () => {
  const store = new WatchedTasks();
  let app: TestApp;
  let url: string;

  beforeAll(async () => {
    const module = { imports: [McpTasksModule.forRoot({ store })] };
    app = await startApp([Works, Policy], { module });
    url = await app.url();
  });
  afterAll(() => app.close());

  it('pass the interceptors in order, and before the result', async () => {
    const { result } = await send(url, 'tools/call', { name: 'work', arguments: {} });
    const ended = await store.untilStatus('completed', result!.taskId);
    expect(ended.statusMessage).toBe('used ***');
    expect(JSON.stringify(store.history)).not.toMatch(/secret|token-123/);
    expect((await send(url, 'tasks/get', { taskId: ended.id })).result).toMatchObject({
      status: 'completed',
      statusMessage: 'used ***',
    });
  });

  it('do not begin a task if they are refused', async () => {
    const { result } = await send(url, 'tools/call', { name: 'later', arguments: {} });
    expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] });
  });
});
