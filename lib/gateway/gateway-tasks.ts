import { ProtocolError, type InputRequest, type Result } from '@modelcontextprotocol/server';
import { withAnswersReceived } from '../elicitation/replay/journal.js';
import { LimitReached } from '../protocol/caller-limit.js';
import { assertDeclares } from '../protocol/declared-extension.js';
import { errorOf, type JsonRpcError } from '../protocol/errors.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import type { OwnMethod, OwnSubscription, ServerExtension } from '../protocol/server-extension.js';
import { listenedTasks, TASKS_EXTENSION, unknownTask } from '../protocol/tasks.js';
import { UnknownMethodError } from '../protocol/unknown.js';
import { whole } from '../server/answer-encoder.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { isRecord } from '../util/is-record.js';
import type { Backend } from './backend.js';
import { BackendDownError, invalidAnswer } from './backend-error.js';
import type { Gateway } from './gateway.js';
import { fieldsOf, metaOf } from './task-fields.js';
import { keepListening, TaskReports } from './task-stream.js';

/** A task that its caller has named. */
interface KnownTask {
  /** The id that the client has. */
  readonly taskId: string;
  readonly backend: Backend;
  /** The backend's id. */
  readonly id: string;
  readonly tool: string;
}

/** Passes tasks of the backends to clients of the gateway that declare the extension (SEP-2663, 2026-07-28). */
export class GatewayTasks implements ServerExtension {
  readonly resultTypes = ['task'];
  private server!: McpServerInstance;

  readonly methods: Readonly<Record<string, OwnMethod>> = {
    'tasks/get': this.ownMethod(async (call, task) => {
      const answer = await this.request('tasks/get', task, call);
      return this.shown(answer, task, call);
    }),
    'tasks/update': this.ownMethod(async (call, task) =>
      metaOf(await this.request('tasks/update', task, await withAnswersReceived(call))),
    ),
    'tasks/cancel': this.ownMethod(async (call, task) =>
      metaOf(await this.request('tasks/cancel', task, call)),
    ),
  };

  constructor(private readonly gateway: Gateway) {}

  /** Undefined until a backend is known to have tasks. */
  get id(): string | undefined {
    return this.gateway.hasTasks ? TASKS_EXTENSION : undefined;
  }

  attach(server: McpServerInstance): void {
    this.server = server;
  }

  async listen({ taskIds }: Params, call: McpCall): Promise<OwnSubscription | undefined> {
    if (taskIds === undefined || !this.gateway.hasTasks) return undefined;
    assertDeclares(call, TASKS_EXTENSION);
    const wanted = listenedTasks(taskIds);
    return this.gateway.via(call, async () => {
      const found = await Promise.all(wanted.map(taskId => this.find(taskId, call)));
      const tasks = found.filter(task => task !== undefined);
      const reports = new TaskReports(error => this.gateway.report(error));
      const backends = [...new Set(tasks.map(({ backend }) => backend))];
      const listened = await Promise.all(
        backends.map(backend => {
          const own = tasks.filter(task => task.backend === backend);
          return this.listenTo(backend, own, call, reports);
        }),
      );
      const accepted = new Set(listened.flat());
      return {
        accepted: { taskIds: wanted.filter(taskId => accepted.has(taskId)) },
        open: notify => {
          const known = new Map<unknown, KnownTask>(tasks.map(task => [task.taskId, task]));
          reports.open(async ({ taskId, ...task }) => {
            await notify('notifications/tasks', await this.shown(task, known.get(taskId)!, call));
          });
          // The signal of the call ends the streams.
          return () => undefined;
        },
      };
    });
  }

  /** @returns the ids of the tasks that the backend reports, as the client has them */
  private async listenTo(
    backend: Backend,
    tasks: readonly KnownTask[],
    call: McpCall,
    reports: TaskReports,
  ): Promise<string[]> {
    const taskIdOf = new Map(tasks.map(({ id, taskId }) => [id, taskId]));
    const onTask = (task: Params) => {
      const taskId = taskIdOf.get(task['taskId'] as string);
      if (taskId !== undefined) reports.add(taskId, { ...task, taskId });
    };
    const open = () => backend.listenToTasks([...taskIdOf.keys()], call, onTask);
    try {
      const accepted = await keepListening(open, call.reply.signal);
      return accepted.flatMap(id => taskIdOf.get(id) ?? []);
    } catch (error) {
      // The client tries again.
      if (error instanceof LimitReached) throw error;
      // A backend that cannot report its tasks leaves the streams of the others as they are.
      this.gateway.report(error as Error);
      return [];
    }
  }

  private async find(taskId: unknown, call: McpCall): Promise<KnownTask | undefined> {
    const opened = await this.gateway.taskIds.open(taskId, call);
    const backend = opened && this.gateway.backendOf(opened.backend);
    return backend && { taskId: taskId as string, backend, id: opened.id, tool: opened.tool };
  }

  /** @throws LimitReached (503) if the backend is down: the client may wait for the task */
  private async request(method: string, { backend, id }: KnownTask, call: McpCall): Promise<Result> {
    try {
      return await backend.request(method, { ...call.params, taskId: id }, call);
    } catch (error) {
      throw error instanceof BackendDownError ? new LimitReached(503, error.message) : error;
    }
  }

  /** What the client gets of a task. The interceptors see its status message, input requests and result now. */
  private async shown(answer: Params, task: KnownTask, call: McpCall): Promise<Result> {
    const fields = await this.fields(answer, task, call);
    switch (answer['status']) {
      case 'working':
      case 'cancelled':
        return fields;
      case 'input_required':
        return { ...fields, ...(await this.asked(answer, task, call)) };
      case 'completed':
        return { ...fields, ...(await this.completed(answer, task, call)) };
      case 'failed':
        return { ...fields, ...failure(errorIn(answer, task.backend)) };
      default:
        throw invalidAnswer();
    }
  }

  private async fields(answer: Params, { taskId }: KnownTask, { late }: McpCall): Promise<Params> {
    const { statusMessage, ...fields } = fieldsOf(answer, taskId);
    if (statusMessage === undefined) return fields;
    const passed = late ? await late.status(statusMessage as string) : statusMessage;
    return passed === undefined ? fields : { ...fields, statusMessage: passed };
  }

  private async asked({ inputRequests }: Params, task: KnownTask, call: McpCall): Promise<Params> {
    if (!isRecord(inputRequests)) throw invalidAnswer();
    if (!call.late) return { inputRequests };
    const { open, answers } = await call.late.input(inputRequests as Record<string, InputRequest>);
    if (Object.keys(answers).length > 0) {
      await this.request('tasks/update', task, { ...call, params: {}, inputResponses: answers });
    }
    return Object.keys(open).length > 0 ? { inputRequests: open } : { status: 'working' };
  }

  private async completed({ result }: Params, { tool }: KnownTask, call: McpCall): Promise<Params> {
    if (!isRecord(result)) throw invalidAnswer();
    const method = 'tools/call';
    const params = { name: tool };
    try {
      const passed = call.late ? await call.late.result(method, params, result) : result;
      return { result: await whole(this.server, { ...call, method, params }, passed) };
    } catch (error) {
      // A final status stays, so a fault of an interceptor does not make one.
      if (error instanceof LimitReached) throw error;
      return failure(errorOf(error, method));
    }
  }

  private ownMethod(answer: (call: McpCall, task: KnownTask) => Promise<Result>): OwnMethod {
    return {
      eras: ['modern'],
      nameHeader: 'taskId',
      isHidden: () => !this.gateway.hasTasks,
      answer: (call, params) =>
        this.gateway.via(call, async () => {
          const task = await this.find(params['taskId'], call);
          // The backend of a task may be down since the gateway has started, so that nothing is known of it.
          if (!task && !this.gateway.hasTasks) throw new UnknownMethodError();
          assertDeclares(call, TASKS_EXTENSION);
          if (!task) throw unknownTask();
          return answer({ ...call, params }, task);
        }),
    };
  }
}

const failure = (error: JsonRpcError): Params => ({
  status: 'failed',
  statusMessage: error.message,
  error,
});

function errorIn({ error }: Params, backend: Backend): JsonRpcError {
  const { code, message, data } = isRecord(error) ? error : {};
  if (!Number.isSafeInteger(code)) throw invalidAnswer();
  const told = backend.told(ProtocolError.fromError(code as number, String(message), data));
  return errorOf(told, 'A task');
}
