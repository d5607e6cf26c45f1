import { McpContext } from '../execution/mcp-context.js';
import { RunningTask } from './running-task.js';
import type { TaskMode, ToolTaskOptions } from './task-options.js';

/** The task of a call, or the task that the call may become. */
export interface CallTask {
  /** Undefined until the task begins. */
  readonly id: string | undefined;
  /**
   * Sets the `statusMessage` that clients read. With `after`, the first message begins the task in the background; if the
   * task is refused, the call goes on as an ordinary call. Interceptors see the message as `notifications/progress`; if they
   * refuse it, it is left out.
   */
  status(message: string): void;
  /**
   * Begins the task, if it has not begun. The server answers the call with the id of the task, and the handler continues.
   * @throws McpException for too many tasks
   */
  begin(): Promise<void>;
}

declare module '../execution/mcp-context.js' {
  interface McpContext {
    /** The task of this call. Undefined if the call cannot become a task. */
    readonly task?: CallTask;
  }
}

declare module '../decorators/handler-options.js' {
  interface ToolOptions {
    /** Whether, and when, a call of the tool becomes a task. Needs `McpTasksModule`. Default: never. */
    task?: TaskMode | ToolTaskOptions;
  }
}

export function addToContext(): void {
  Object.defineProperty(McpContext.prototype, 'task', {
    configurable: true,
    get(this: McpContext): CallTask | undefined {
      const { lifecycle, reply } = this['call'];
      if (!(lifecycle instanceof RunningTask)) return undefined;
      return {
        get id() {
          return lifecycle.id;
        },
        begin: () => lifecycle.begin(),
        // By the channel, because it leads through the interceptors.
        status: message => void this['tell'](async () => reply.status?.(message)),
      };
    },
  });
}
