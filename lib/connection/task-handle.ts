import type { CallToolResult } from '@modelcontextprotocol/client';
import { distinctUntilChanged, EMPTY, map, Observable, type Subscriber } from 'rxjs';
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

/** @param call calls the tool */
export async function startTask(call: (start: TaskStart) => Promise<CallToolResult>): Promise<TaskHandle> {
  let onTask!: TaskStart['onTask'];
  const begun = new Promise<ClientTask>(resolve => (onTask = resolve));
  const result = call({ onTask, begun });
  const task = await Promise.race([begun, result.then(() => undefined)]);
  // Nobody may be waiting for it.
  result.catch(() => undefined);
  return task ? new RunningHandle(task, result) : settled(result);
}

const settled = (result: Promise<CallToolResult>): TaskHandle => ({
  id: undefined,
  status: async () => undefined,
  result: () => result,
  cancel: async () => undefined,
  updates: EMPTY,
});

class RunningHandle implements TaskHandle {
  private isAwaited = false;

  constructor(
    private readonly task: ClientTask,
    private readonly answer: Promise<CallToolResult>,
  ) {}

  get id(): string {
    return this.task.id;
  }

  async status(): Promise<TaskState> {
    return stateOf(await this.task.read());
  }

  result(): Promise<CallToolResult> {
    if (!this.isAwaited) this.task.want();
    this.isAwaited = true;
    return this.answer;
  }

  cancel(): Promise<void> {
    return this.task.cancel();
  }

  readonly updates = new Observable<TaskState>((subscriber: Subscriber<TaskState>) => {
    const { task, answer } = this;
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
  });
}

function stateOf({
  taskId,
  status,
  statusMessage,
  createdAt,
  lastUpdatedAt,
  ttlMs,
  pollIntervalMs,
}: TaskAnswer): TaskState {
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
  };
}

const isSame = (one: TaskState, other: TaskState): boolean =>
  one.status === other.status &&
  one.statusMessage === other.statusMessage &&
  one.lastUpdatedAt === other.lastUpdatedAt;
