import type { CallToolResult } from '@modelcontextprotocol/client';
import { distinctUntilChanged, EMPTY, map, Observable } from 'rxjs';
import { pick } from '../options/option-schema.js';
import { defined } from '../util/defined.js';
import type { ClientTask, TaskAnswer, TaskState } from './client-task.js';

/**
 * A call of a tool that may have become a task. Nothing polls the task until `result()` is called, or somebody subscribes
 * to `updates`.
 * @example
 * ```ts
 * const report = await this.reports.startTool({ name: 'report', arguments: { year: 2026 } });
 * report.updates.subscribe({ next: ({ statusMessage }) => this.show(statusMessage), error: () => undefined });
 * return await report.result();
 * ```
 */
export interface TaskHandle {
  /** The id of the task. Undefined if the server has answered without a task. */
  readonly id: string | undefined;
  /** Reads the task now. Undefined without a task. */
  status(): Promise<TaskState | undefined>;
  /**
   * Waits for the result, and answers input requests meanwhile. All callers get the same promise.
   * @throws ProtocolError if the task failed or is unknown, McpException if it was cancelled
   */
  result(): Promise<CallToolResult>;
  /** Asks the server to cancel the task. `result()` then rejects, unless the task ends first. */
  cancel(): Promise<void>;
  /** The state of the task: the last known one, then each change. Completes at the end; errors like `result()`. */
  readonly updates: Observable<TaskState>;
}

/** A call that does not wait for its task. */
export interface TaskStart {
  /** Receives the task, if the call becomes one. */
  readonly onTask: (task: ClientTask) => void;
  /** Resolves when there is a task. */
  readonly begun: Promise<unknown>;
}

export async function startTask(call: (start: TaskStart) => Promise<CallToolResult>): Promise<TaskHandle> {
  let onTask!: TaskStart['onTask'];
  const begun = new Promise<ClientTask>(resolve => (onTask = resolve));
  const result = call({ onTask, begun });
  const task = await Promise.race([begun, result.then(() => undefined)]);
  // Nobody may be waiting for it.
  result.catch(() => undefined);
  return task ? running(task, result) : settled(result);
}

const settled = (result: Promise<CallToolResult>): TaskHandle => ({
  id: undefined,
  status: async () => undefined,
  result: () => result,
  cancel: async () => undefined,
  updates: EMPTY,
});

function running(task: ClientTask, answer: Promise<CallToolResult>): TaskHandle {
  let isAwaited = false;
  return {
    id: task.id,
    status: async () => stateOf(await task.read()),
    result: () => {
      if (!isAwaited) task.want();
      isAwaited = true;
      return answer;
    },
    cancel: () => task.cancel(),
    updates: new Observable(subscriber => {
      const states = task.states
        .pipe(map(stateOf), distinctUntilChanged(isSame))
        .subscribe(state => subscriber.next(state));
      const stop = task.want();
      answer.then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
      return () => {
        stop();
        states.unsubscribe();
      };
    }),
  };
}

const STATE = [
  'taskId',
  'status',
  'statusMessage',
  'createdAt',
  'lastUpdatedAt',
  'ttlMs',
  'pollIntervalMs',
] as const satisfies readonly (keyof TaskState)[];

const stateOf = (task: TaskAnswer): TaskState => defined(pick(task, ...STATE));

const isSame = (one: TaskState, other: TaskState): boolean =>
  one.status === other.status &&
  one.statusMessage === other.statusMessage &&
  one.lastUpdatedAt === other.lastUpdatedAt;
