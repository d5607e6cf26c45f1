import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { QueuedTask } from './task-options.js';
import type { TasksExtension } from './tasks-extension.js';

/**
 * Runs tasks for a `TaskRunner`. `McpTasksModule` exports it.
 * @example
 * ```ts
 * @Processor('reports')
 * export class ReportWorker extends WorkerHost {
 *   constructor(private readonly tasks: McpTasks) {
 *     super();
 *   }
 *
 *   process({ data }: Job<QueuedTask>) {
 *     return this.tasks.run(data);
 *   }
 * }
 * ```
 */
@Injectable()
export class McpTasks implements OnApplicationBootstrap {
  private readonly extensions: TasksExtension[] = [];
  private start!: () => void;
  /** A queue may deliver tasks before the servers and the connections of their stores exist. */
  private readonly started = new Promise<void>(resolve => (this.start = resolve));

  /** @internal Nest calls it. */
  onApplicationBootstrap(): void {
    this.start();
  }

  /** @internal */
  add(extension: TasksExtension): TasksExtension {
    this.extensions.push(extension);
    return extension;
  }

  /**
   * Runs the handler of a task in this process, until it ends. The outcome of the handler goes to the task, so a failure of
   * the handler is not an error here. A queue may deliver a task twice: only the first call for each `run` of a task does
   * something, and none does after the task has ended.
   * @throws Error if this application has no such server or is shutting down, or the store cannot be reached. Call it again
   * later, here or in another process
   */
  async run({ id, server, run }: Pick<QueuedTask, 'id' | 'server' | 'run'>): Promise<void> {
    await this.started;
    const extension = this.extensions.find(({ serverName }) => serverName === server);
    if (!extension) throw new Error(`The application has no MCP server "${server}"`);
    await extension.run(id, run);
  }
}
