import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { COUNT, FLAG, objectOf, oneOf, TIME } from '../options/option-schema.js';
import { hasMethods } from '../util/values.js';
import { MemoryTaskStore } from '../stores/memory-task-store.js';
import type { StoredTask, TaskStore } from '../stores/task-store.js';

/** What a queue transports of a task, as JSON. The call stays in the `TaskStore`. */
export type QueuedTask = Pick<StoredTask, 'id' | 'server' | 'run' | 'expiresAt'>;

/**
 * Runs the handlers of tasks elsewhere, such as in the workers of a queue. Tasks with `after` run in the process of their
 * call.
 * @example
 * ```ts
 * const runner: TaskRunner = { start: task => queue.add('run', task) };
 * ```
 */
export interface TaskRunner {
  /**
   * Queues a task, which a worker passes to `McpTasks.run()`. It is called again, with a greater `run`, for a task with
   * `retry` whose process has died or shut down.
   * @throws Error if the task cannot be queued; the call is refused then
   */
  start(task: QueuedTask): Promise<unknown>;
}

/** Options of `McpTasksModule`. */
export interface McpTasksOptions {
  /** Keeps the tasks. Default: the store of `McpRedisModule`; without it, a `MemoryTaskStore`, for one node. */
  store?: TaskStore;
  /** Runs the handlers. Default: in the process of the call. */
  runner?: TaskRunner;
  /**
   * How long after the death of its process a task is run again or fails, in milliseconds, at least. It takes up to twice
   * this time. Default: 10,000.
   */
  leaseMs?: number;
  /** How long a task is kept after its creation, in milliseconds. If it still runs then, it fails. Default: 3,600,000. */
  ttlMs?: number;
  /** How long a client should wait between two polls, in milliseconds. Default: 1,000. */
  pollIntervalMs?: number;
  /** Maximum number of kept tasks, on this node. Default: 10,000. */
  max?: number;
  /**
   * Maximum number of kept tasks of one caller, on this node. Past it, a new task replaces the oldest ended task of the
   * caller; if none has ended, the call is refused. Default: 1,000.
   */
  maxPerCaller?: number;
  /** The largest result of a task, in bytes of JSON. A larger result makes the task fail. Default: 1,048,576. */
  maxResultBytes?: number;
}

export type TaskSettings = Readonly<
  Required<Omit<McpTasksOptions, 'runner'>> & Pick<McpTasksOptions, 'runner'>
>;

/** When the call of a tool becomes a task. */
export type TaskMode = 'optional' | 'required';

/** The option `task` of `@Tool`, as an object. */
export interface ToolTaskOptions {
  /**
   * `optional`: clients that do not declare the extension get an ordinary call. `required`: they get the error -32021.
   * Default: `optional`.
   */
  mode?: TaskMode;
  /**
   * The call becomes a task if the handler still runs after this time, in milliseconds, or earlier if it calls
   * `ctx.task.begin()` or `ctx.task.status()`. Default: at once, before the handler runs.
   */
  after?: number;
  /**
   * Whether the handler runs again, in another process, if its process dies or shuts down. `ctx.step()`, answers and
   * `ctx.idempotencyKey` stay the same in all runs. Default: false, so that the task fails.
   */
  retry?: boolean;
  /** Default: the option of the module. */
  ttlMs?: number;
  /** Default: the option of the module. */
  pollIntervalMs?: number;
}

/** The task options of one tool. */
export type TaskRule = Readonly<Required<Omit<ToolTaskOptions, 'after'>> & Pick<ToolTaskOptions, 'after'>>;

const MODE = oneOf('optional', 'required');

const STORE = ['create', 'get', 'replace', 'delete', 'watch', 'lease', 'takeLapsed', 'release'] as const;

export const TASKS = objectOf<McpTasksOptions, Omit<TaskSettings, 'store'> & Pick<McpTasksOptions, 'store'>>(
  {
    store: { accepts: hasMethods(...STORE), description: `an object with ${STORE.join(', ')}` },
    runner: { accepts: hasMethods('start'), description: 'an object with start' },
    leaseMs: { ...TIME, default: 10_000 },
    ttlMs: { ...TIME, default: 3_600_000 },
    pollIntervalMs: { ...TIME, default: 1000 },
    max: { ...COUNT, default: 10_000 },
    maxPerCaller: { ...COUNT, default: 1000 },
    maxResultBytes: { ...COUNT, default: 1_048_576 },
  },
  { title: 'options' },
);

export const TOOL_TASK = objectOf<ToolTaskOptions>({
  mode: { ...MODE, default: 'optional' },
  after: TIME,
  retry: { ...FLAG, default: false },
  ttlMs: TIME,
  pollIntervalMs: TIME,
});

const OPTION = objectOf<{ task: TaskMode | ToolTaskOptions }>({
  task: {
    anyOf: [MODE, TOOL_TASK],
    description: '"optional", "required" or an object with mode, after, retry, ttlMs and pollIntervalMs',
  },
});

/** @throws McpBootstrapError for an option that is unknown or out of range */
export function resolveTasksOptions(options: McpTasksOptions, shared?: TaskStore): TaskSettings {
  const resolved = resolve(TASKS, options, problem => new McpBootstrapError('McpTasksModule', problem));
  return { ...resolved, store: resolved.store ?? shared ?? new MemoryTaskStore() };
}

/** @throws Error for a wrong value */
export function ruleOf(value: unknown, { ttlMs, pollIntervalMs }: TaskSettings): TaskRule {
  const given = { task: value as TaskMode | ToolTaskOptions };
  const { task } = resolve(OPTION, given, problem => new Error(problem));
  const own: ToolTaskOptions = typeof task === 'string' ? { mode: task } : task;
  return {
    mode: own.mode ?? 'optional',
    after: own.after,
    retry: own.retry ?? false,
    ttlMs: own.ttlMs ?? ttlMs,
    pollIntervalMs: own.pollIntervalMs ?? pollIntervalMs,
  };
}
