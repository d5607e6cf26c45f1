import { Injectable } from '@nestjs/common';
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
 *   process({ data }: Job<{ id: string; server: string }>) {
 *     return this.tasks.run(data);
 *   }
 * }
 * ```
 */
@Injectable()
export class McpTasks {
  private readonly extensions: TasksExtension[] = [];

  /** @internal */
  add(extension: TasksExtension): TasksExtension {
    this.extensions.push(extension);
    return extension;
  }

  /**
   * Runs the handler of a task in this process, until it ends. A task that has ended, or that does not exist, is left
   * alone. The outcome of the handler goes to the task, so a failure of the handler is not an error here.
   * @throws Error if this application has no such server, or the store cannot be reached
   */
  async run({ id, server }: { readonly id: string; readonly server: string }): Promise<void> {
    const extension = this.extensions.find(({ serverName }) => serverName === server);
    if (!extension) throw new Error(`The application has no MCP server "${server}"`);
    await extension.run(id);
  }
}
