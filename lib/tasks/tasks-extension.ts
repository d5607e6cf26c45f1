import type { Result } from '@modelcontextprotocol/server';
import type { ToolEntry } from '../catalog/entries.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Answer, Stage } from '../protocol/answer.js';
import { assertDeclares, declares } from '../protocol/declared-extension.js';
import type { CallLifecycle, Era, McpCall, Params } from '../protocol/mcp-call.js';
import type { DependencyHealth } from '../protocol/handlers.js';
import type {
  OwnMethod,
  OwnSubscription,
  ServerExtension,
  Stages,
  TaskList,
} from '../protocol/server-extension.js';
import { whole } from '../server/answer-encoder.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { TASKS_EXTENSION } from '../protocol/tasks.js';
import type { StoredTask } from '../stores/task-store.js';
import { unlessAborted } from '../util/abort.js';
import { RunningTask, type TaskParts } from './running-task.js';
import { callOf, identified } from './stored-call.js';
import { listenToTasks } from './task-listening.js';
import { ruleOf, type TaskRule, type TaskSettings } from './task-options.js';
import { queuedTask, Tasks } from './tasks.js';
import { overviewOf, taskResult } from './wire.js';

/** The lifecycle of a call that needs a task, from a client that has not declared the extension. */
class Undeclared implements CallLifecycle {
  constructor(
    readonly tool: ToolEntry,
    private readonly call: McpCall,
  ) {}

  async onEnter(): Promise<void> {
    assertDeclares(this.call, TASKS_EXTENSION);
  }
}

/** Lets calls of tools become tasks (SEP-2663), for clients of 2026-07-28. */
export class TasksExtension implements ServerExtension {
  readonly id = TASKS_EXTENSION;
  readonly forOwnHandlers = true;
  readonly resultTypes = ['task'];
  private readonly rules = new WeakMap<object, TaskRule>();
  private server?: McpServerInstance;
  private tasks!: Tasks;
  /** Answers a call that may become a task, behind the stage of this extension. */
  private inner!: Answer;

  readonly handlerOptions = {
    task: (value: unknown, tool: object) => void this.rules.set(tool, ruleOf(value, this.defaults)),
  };

  readonly methods: Readonly<Record<string, OwnMethod>> = {
    'tasks/get': this.ownMethod(async (call, { taskId }) => taskResult(await this.tasks.poll(call, taskId))),
    'tasks/update': this.ownMethod(async (call, { taskId }) => {
      const task = await this.tasks.find(call, taskId);
      if (!call.inputResponses) {
        throw new McpException(McpErrorCode.InvalidParams, 'inputResponses must be an object');
      }
      this.tasks.acknowledge(task, await this.tasks.answer(task, call));
      return {};
    }),
    'tasks/cancel': this.ownMethod(async (call, { taskId }) => {
      const task = await this.tasks.find(call, taskId);
      this.tasks.acknowledge(task, await this.tasks.cancel(task));
      return {};
    }),
  };

  readonly taskList: TaskList = {
    size: () => this.tasks.size,
    latest: async max => (await this.tasks.latest(max)).map(overviewOf),
    cancel: async id => void (await this.tasks.cancel({ id })),
  };

  constructor(private readonly defaults: TaskSettings) {}

  attach(server: McpServerInstance): void {
    this.server = server;
    this.tasks = new Tasks({
      settings: this.defaults,
      server: server.options.name,
      restart: task => this.restart(task),
      onEnd: ({ tool, status, createdAt }) =>
        server.observer?.endTask({
          tool,
          status,
          durationMs: Math.max(0, Date.now() - Date.parse(createdAt)),
        }),
    });
    server.limits['tasks'] = this.tasks.limit;
    server.gauges['runningTasks'] = () => this.tasks.runs.size;
  }

  get serverName(): string | undefined {
    return this.server?.options.name;
  }

  /** Runs a task that another process has created, until its handler ends, unless it has been run since it was queued. */
  async run(id: string, queued: number): Promise<void> {
    const task = await this.tasks.take(id, queued);
    if (task) await this.resume(task);
  }

  private async resume(task: StoredTask): Promise<void> {
    if (!task.call) return;
    const { ttlMs, pollIntervalMs, retry = false } = task;
    const rule: TaskRule = { mode: 'optional', after: undefined, retry, ttlMs, pollIntervalMs };
    const { params, mark = '' } = task.call;
    await this.running(callOf(task.call), params, rule, false, mark).resume(task, this.inner);
  }

  async listen({ taskIds }: Params, call: McpCall): Promise<OwnSubscription | undefined> {
    if (taskIds === undefined) return undefined;
    assertDeclares(call, TASKS_EXTENSION);
    return listenToTasks(this.tasks, call, taskIds);
  }

  stages(method: string, era: Era): Stages | undefined {
    if (method !== 'tools/call' || era === 'legacy') return undefined;
    // The stages do not change params, so that nobody needs to check them again.
    return { admit: this.begun, answer: this.refused, check: next => next };
  }

  async health(signal: AbortSignal): Promise<DependencyHealth> {
    // No task has this id.
    const answered = unlessAborted(this.defaults.store.get(''), signal);
    const isUp = await answered.then(
      () => true,
      () => false,
    );
    return { name: 'tasks', isUp };
  }

  close(timeoutMs: number): Promise<void> {
    return this.tasks.close(timeoutMs);
  }

  private readonly begun: Stage = next => {
    const { rules, defaults } = this;
    const server = this.server!;
    this.inner = server.rounds.inline(next);
    return (call, params) => {
      const tool = server.catalog.tools.get(params['name'] as string);
      const rule = tool && rules.get(tool);
      if (!rule) return next(call, params);
      if (declares(call, TASKS_EXTENSION)) {
        const isQueued = defaults.runner !== undefined && rule.after === undefined;
        return this.running(identified(call), params, rule, isQueued).answer(this.inner);
      }
      return next(
        rule.mode === 'required' ? { ...call, lifecycle: new Undeclared(tool, call) } : call,
        params,
      );
    };
  };

  /** Refuses a call before it asks its user. Whether the caller sees the tool is known only now. */
  private readonly refused: Stage = next => (call, params) =>
    call.lifecycle instanceof Undeclared
      ? this.refuse(call, call.lifecycle.tool, () => next(call, params))
      : next(call, params);

  private async refuse(call: McpCall, tool: ToolEntry, hidden: () => Promise<Result>): Promise<Result> {
    if (await this.server!.visibility.shown(tool, call)) assertDeclares(call, TASKS_EXTENSION);
    return hidden();
  }

  /** @param mark of the call that created the task, for a further run */
  private running(
    call: McpCall,
    params: Params,
    rule: TaskRule,
    isQueued: boolean,
    mark?: string,
  ): RunningTask {
    const { tasks } = this;
    const server = this.server!;
    const parts: TaskParts = {
      ...{ call, params, rule, tasks, isQueued },
      observed: server.observer?.task({ tool: params['name'] as string, mark }),
      mark: mark ?? server.extensions.traffic?.mark(),
      whole: whole.bind(undefined, server),
    };
    return new RunningTask(parts);
  }

  /** Runs a task again. The runner has its own processes; otherwise, this process runs it. */
  private async restart(task: StoredTask): Promise<void> {
    const { runner, store } = this.defaults;
    if (!runner) {
      const taken = await this.tasks.take(task.id, task.run);
      if (!taken) return;
      this.resume(taken).catch((error: unknown) =>
        this.tasks.records.warn('A task could not be run again', error),
      );
      return;
    }
    await runner.start(queuedTask(task));
    await store.release(task.server, [task.id]);
  }

  private ownMethod(answer: (call: McpCall, params: Params) => Promise<Result>): OwnMethod {
    return {
      eras: ['modern'],
      nameHeader: 'taskId',
      answer: async (call, params) => {
        assertDeclares(call, TASKS_EXTENSION);
        return answer(call, params);
      },
    };
  }
}
