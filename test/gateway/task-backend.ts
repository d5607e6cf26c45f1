import { Injectable, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { deferred } from '../fixtures/deferred.js';
import { listen, type Running } from './support.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

/** The handlers of a backend, and the gate behind which they wait. */
@Injectable()
export class TaskWorks {
  gate = deferred<string>();
  entered = deferred<McpContext>();

  @Tool({ task: 'optional' })
  async work(@Ctx() ctx: McpContext) {
    ctx.task?.status('Working');
    this.entered.resolve(ctx);
    return this.gate.promise;
  }

  @Tool({ task: 'required' })
  needs() {
    return 'needed';
  }

  @Tool({ task: 'optional' })
  async asks(@Ctx() ctx: McpContext) {
    const ask = (key: string) => ctx.elicit(key, { message: `${key}?`, schema: NAME });
    const answers = await Promise.all([ask('first'), ask('second')]);
    return answers.map(({ action, content }) => `${action} ${String(content?.['name'])}`).join(', ');
  }

  @Tool()
  plain() {
    return 'plain';
  }
}

export interface TaskBackend extends Running {
  readonly works: TaskWorks;
}

/** A backend whose calls become tasks, over HTTP. */
export async function startTaskBackend(
  imports: DynamicModule[] = [McpTasksModule.forRoot({ pollIntervalMs: 50 })],
  providers: Provider[] = [TaskWorks],
): Promise<TaskBackend> {
  @Module({ imports: [McpModule.forRoot({ name: 'works', version: '1.0.0' }), ...imports], providers })
  class BackendModule {}
  const running = await listen(BackendModule);
  return { ...running, works: running.app.get(TaskWorks, { strict: false }) };
}
