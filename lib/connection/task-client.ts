import type * as Sdk from '@modelcontextprotocol/client';
import type {
  CallToolRequestOptions,
  ClientCapabilities,
  ClientContext,
  ClientOptions,
  Implementation,
  InputRequest,
  JSONRPCNotification,
  JSONRPCResponse,
  MessageExtraInfo,
  Request,
  RequestOptions,
  Result,
  StandardSchemaV1,
} from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  specTypeSchemas,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { INPUT_METHODS } from '../protocol/methods.js';
import { TASKS_EXTENSION } from '../protocol/tasks.js';
import type { AnsweringClient, ClientTask, TaskAccess, TaskAnswer } from './client-task.js';
import { startTask, type TaskHandle } from './task-handle.js';
import { TaskSubscriptions, type TaskSubscription } from './task-subscriptions.js';

/** The key of an option of a call: receives its task, for which nobody waits until the task is wanted. */
export const ON_TASK = Symbol('nestjs-mcp:on-task');

export interface TaskCallOptions extends CallToolRequestOptions {
  readonly [ON_TASK]?: (task: ClientTask) => void;
}

export interface TaskClient extends AnsweringClient {
  /** Calls a tool, and does not wait for the result if the call becomes a task. */
  startTool(
    params: Parameters<Sdk.Client['callTool']>[0],
    options?: CallToolRequestOptions,
  ): Promise<TaskHandle>;
}

/** A client that leaves the tasks to its caller. */
export interface TaskPassingClient extends TaskClient {
  /** Sends a request, and returns its result as it is, or the task that it has become. */
  exchange(request: Request, rest: readonly (object | undefined)[]): Promise<unknown>;
  /** Listens for notifications of tasks, until the signal aborts. Waits for the acknowledgement. */
  listenToTasks(...listened: Listened): Promise<TaskSubscription>;
}

type Listened = Parameters<TaskSubscriptions['open']>;

type TaskClientClass = new (
  info: Implementation,
  options: ClientOptions,
  access?: (client: TaskClient) => TaskAccess,
) => TaskPassingClient;

/** The handlers of a client of the SDK, which have no public accessor. */
interface HandlerLookup {
  _getRequestHandler(
    method: string,
  ): ((request: object, context: ClientContext) => Promise<Result>) | undefined;
}

/**
 * Waits for the tasks that calls of tools become (2026-07-28, SEP-2663). The SDK throws `UnsupportedResultType` for such
 * an answer, loses the task, and has no code that would wait for it.
 */
export function taskClient({ Client: SdkClient }: typeof Sdk): TaskClientClass {
  return class extends SdkClient implements TaskPassingClient {
    /** The answers that are tasks. A server cannot forge one. */
    private readonly created = new WeakSet<object>();
    private readonly declared: ClientCapabilities;
    private readonly subscriptions = new TaskSubscriptions(this);
    private readonly access?: TaskAccess;

    /** @param access without it, the client declares no tasks */
    constructor(info: Implementation, options: ClientOptions, access?: (client: TaskClient) => TaskAccess) {
      super(info, options);
      const { capabilities = {} } = options;
      this.declared = { ...capabilities, extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} } };
      this.access = access?.(this);
    }

    override async request(request: Request, ...rest: (object | undefined)[]): Promise<never> {
      const answer = await this.exchange(request, rest);
      if (!this.access || !this.created.has(answer as object)) return answer as never;
      const [first, second] = rest;
      const [schema, options] = isSchema(first) ? [first, second] : [specTypeSchemas.CallToolResult, first];
      const end = await endOf(answer as TaskAnswer, this.access, options);
      return (await resultOf(end, schema)) as never;
    }

    async exchange(request: Request, rest: readonly (object | undefined)[]): Promise<unknown> {
      try {
        return await super.request(request as { method: 'ping' }, ...(rest as [RequestOptions]));
      } catch (error) {
        const task = error instanceof ProtocolError ? (error.data as object) : undefined;
        if (!task || !this.created.has(task)) throw error;
        const { method } = request;
        if (method === 'tools/call') return task;
        const what = `Unsupported result type 'task' for ${method}`;
        throw new SdkError(SdkErrorCode.UnsupportedResultType, what, { resultType: 'task', method });
      }
    }

    startTool(
      params: Parameters<Sdk.Client['callTool']>[0],
      options?: CallToolRequestOptions,
    ): Promise<TaskHandle> {
      return startTask(({ onTask }) => {
        const own: TaskCallOptions = { ...options, [ON_TASK]: onTask };
        return this.callTool(params, own);
      });
    }

    listenToTasks(...listened: Listened): Promise<TaskSubscription> {
      return this.subscriptions.open(...listened);
    }

    async answerInput(key: string, { method, params }: InputRequest, signal: AbortSignal): Promise<Result> {
      const handler = (this as unknown as HandlerLookup)._getRequestHandler(method);
      if (!INPUT_METHODS.includes(method) || !handler) {
        const what = `Cannot answer the input request '${key}': this client has no handler for '${method}'`;
        throw new SdkError(SdkErrorCode.CapabilityNotSupported, what, { key, method });
      }
      const send = () => {
        throw new SdkError(SdkErrorCode.SendFailed, 'An input request of a task has no related messages');
      };
      const { sessionId } = this.transport ?? {};
      const mcpReq = { id: key, method, signal, _meta: params?._meta, send, notify: send };
      const context = this.buildContext({ sessionId, mcpReq: { ...mcpReq, requestState: () => undefined } });
      return handler({ jsonrpc: '2.0', id: key, method, params }, context);
    }

    /** Declares tasks on 2026-07-28 only: the envelope of earlier revisions is empty. */
    protected override _outboundMetaEnvelope(): Readonly<Record<string, unknown>> | undefined {
      const envelope = super._outboundMetaEnvelope();
      return envelope && this.access
        ? { ...envelope, [CLIENT_CAPABILITIES_META_KEY]: this.declared }
        : envelope;
    }

    protected override _onnotification(notification: JSONRPCNotification, extra?: MessageExtraInfo): void {
      if (!this.subscriptions.take(notification)) super._onnotification(notification, extra);
    }

    /** Passes a task on as an error, the only answer that the SDK passes on unread. */
    protected override _onresponse(response: JSONRPCResponse): void {
      if (!this.access || !('result' in response) || !isTask(response.result)) {
        return super._onresponse(response);
      }
      const { jsonrpc, id, result } = response;
      this.created.add(result);
      super._onresponse({ jsonrpc, id, error: { code: 0, message: 'The call became a task', data: result } });
    }
  };
}

const isTask = ({ resultType, taskId }: Result): boolean =>
  resultType === 'task' && typeof taskId === 'string';

const isSchema = (value: object | undefined): value is StandardSchemaV1 =>
  value !== undefined && '~standard' in value;

/** Waits for the end of a task. If the caller gives up, the task is cancelled. */
async function endOf(
  created: TaskAnswer,
  access: TaskAccess,
  { signal, [ON_TASK]: onTask, ...limits }: TaskCallOptions = {},
): Promise<TaskAnswer> {
  const { ClientTask } = await import('./client-task.js');
  const task = new ClientTask(created, access);
  const giveUp = () => task.abandon(asSdkError(signal?.reason));
  const timeout = Math.min(limits.timeout ?? Infinity, limits.maxTotalTimeout ?? Infinity);
  const late = () =>
    task.abandon(new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', { timeout }));
  // The creator of a handle decides when somebody waits, so only its request has a timeout.
  const timer = onTask || timeout === Infinity ? undefined : setTimeout(late, timeout);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  else if (onTask) onTask(task);
  else task.want();
  try {
    return await task.end;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

/** The error with which the SDK rejects an aborted request. */
const asSdkError = (reason: unknown): SdkError =>
  reason instanceof SdkError ? reason : new SdkError(SdkErrorCode.RequestTimeout, String(reason));

/** @throws ProtocolError of a task that has failed, McpException if it was cancelled, SdkError for a wrong result */
async function resultOf(
  { status, statusMessage, result, error }: TaskAnswer,
  schema: StandardSchemaV1,
): Promise<unknown> {
  if (status === 'failed') {
    const { code, message, data } = error ?? { code: McpErrorCode.InternalError, message: statusMessage };
    throw ProtocolError.fromError(code, message ?? 'The task has failed', data);
  }
  if (status === 'cancelled') throw new McpException(McpErrorCode.Refused, 'The task was cancelled');
  // The SDK removes it from other results, too.
  const { resultType: _complete, ...own } = result ?? {};
  const checked = await schema['~standard'].validate(own);
  if (!checked.issues) return checked.value;
  const issues = checked.issues.map(({ message }) => message).join('; ');
  throw new SdkError(SdkErrorCode.InvalidResult, `Invalid result for tools/call: ${issues}`);
}
