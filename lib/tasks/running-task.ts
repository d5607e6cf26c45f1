import { isDeepStrictEqual } from 'node:util';
import type { InputRequest, Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Answer } from '../protocol/answer.js';
import { errorOf, type JsonRpcError } from '../protocol/errors.js';
import type { AskClient, CallLifecycle, McpCall, Params, ReplyChannel } from '../protocol/mcp-call.js';
import type { TaskObserving } from '../protocol/traffic-listener.js';
import type { StoredTask, TaskStatus } from '../stores/task-store.js';
import { unlessAborted } from '../util/abort.js';
import { storedCall } from './stored-call.js';
import type { TaskRule } from './task-options.js';
import { failed } from './task-records.js';
import type { TaskRun } from './task-runs.js';
import type { Tasks } from './tasks.js';
import { createdResult } from './wire.js';

export interface TaskParts {
  readonly call: McpCall;
  /** The params of the call, which an interceptor may change later. */
  readonly params: Params;
  readonly rule: TaskRule;
  readonly tasks: Tasks;
  /** Whether a runner runs the handler, perhaps in another process. */
  readonly isQueued: boolean;
  /** Undefined if nobody observes the tasks of the server. */
  readonly observed?: TaskObserving;
  /** The trace position of the call that creates the task. */
  readonly mark?: string;
  /** Checks and completes the final result. */
  readonly whole: (call: McpCall, result: Result) => Result | Promise<Result>;
}

/**
 * A call that may become a task, and its channel to the client. Until the task begins, the channel is that of the
 * request. After that, it outlives the request.
 */
export class RunningTask implements CallLifecycle, ReplyChannel, TaskRun {
  private readonly ending = new AbortController();
  private readonly onRequestEnd = () => this.ending.abort(this.parts.call.reply.signal.reason);
  /** Undefined until the task begins. */
  id?: string;
  private beginning?: Promise<void>;
  private isRefused = false;
  /** The latest status message, and the one that the store has. */
  private message?: string;
  private written?: string;
  private writing = Promise.resolve();
  private timer?: NodeJS.Timeout;
  private hasEntered = false;
  /** Returns what the call has recorded; undefined if it asks nothing. */
  private record?: () => unknown;
  /** Whether the task shall begin as soon as the handler runs. */
  private isWanted = false;
  isOver = false;
  private readonly waiting = new Map<string, (answer: Result) => void>();
  /** The keys of all elicitations. No key is used again. */
  private readonly keys = new Set<string>();
  /** The task as an earlier run has left it. */
  private earlier?: StoredTask;
  private resolve: (result: Result) => void = () => undefined;

  constructor(private readonly parts: TaskParts) {
    this.endWithRequest();
  }

  /** Runs the call. The answer is the task, or the result of a call that ends before its task begins. */
  answer(next: Answer): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.run(next).then(result => result && resolve(result), reject);
    });
  }

  /** Runs the call of a task that exists, until its handler ends. */
  async resume(task: StoredTask, next: Answer): Promise<void> {
    this.earlier = task;
    this.id = task.id;
    this.beginning = Promise.resolve();
    for (const key of task.keys ?? []) this.keys.add(key);
    await this.parts.tasks.runs.start(task, this);
    this.parts.observed?.begin(task.id, task.run);
    await this.run(next);
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  get isEnded(): boolean {
    return this.signal.aborted;
  }

  get isAsking(): boolean {
    return this.waiting.size > 0;
  }

  get isAdmitted(): boolean {
    return this.earlier !== undefined;
  }

  /** A task has no stream: it sends no progress and no log messages. */
  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    if (this.id === undefined) await this.parts.call.reply.notify(method, params);
  }

  extend(): void {
    if (this.id === undefined) this.parts.call.reply.extend?.();
  }

  /** While the task is created, input requests wait for it. */
  get ask(): AskClient | undefined {
    return this.beginning && !this.isRefused ? this.elicit : undefined;
  }

  async onEnter(record: (() => unknown) | undefined): Promise<void> {
    this.hasEntered = true;
    this.record = record;
    const { after } = this.parts.rule;
    if (this.beginning || after === undefined || this.isWanted) return this.begin();
    this.timer ??= setTimeout(() => this.beginSoon(), after);
  }

  async onRecord(record: () => unknown): Promise<void> {
    await this.beginning?.catch(() => undefined);
    if (this.id === undefined) return;
    const { tasks } = this.parts;
    await tasks.runs.write(this.id, this, ({ call }) => call && { call: { ...call, journal: record() } });
  }

  status(message: string): void {
    this.message = message;
    if (this.id === undefined) this.beginSoon();
    else this.writeMessage(this.id);
  }

  async begin(): Promise<void> {
    if (this.isOver) throw new Error('The call has ended, so it cannot become a task');
    // Guards and validation still decide whether there is a task.
    if (!this.hasEntered) this.isWanted = true;
    else await (this.beginning ??= this.create());
  }

  receive({ inputResponses = {} }: StoredTask): void {
    for (const [key, answer] of Object.entries(inputResponses)) this.waiting.get(key)?.(answer as Result);
  }

  abort(reason: Error, status?: TaskStatus): void {
    const isCancelled = status === 'cancelled';
    this.parts.observed?.end({ error: reason, ...(isCancelled && { aborted: 'cancelled' }) }, status);
    this.ending.abort(reason);
  }

  /** If the task is refused, the call goes on without one: its handler has already begun. */
  private beginSoon(): void {
    this.begin().catch(() => undefined);
  }

  private endWithRequest(): void {
    const { signal } = this.parts.call.reply;
    if (signal.aborted) this.onRequestEnd();
    else signal.addEventListener('abort', this.onRequestEnd, { once: true });
  }

  private outliveRequest(): void {
    this.parts.call.reply.signal.removeEventListener('abort', this.onRequestEnd);
  }

  private async create(): Promise<void> {
    const { call, params, rule, tasks, isQueued, mark, observed } = this.parts;
    clearTimeout(this.timer);
    this.signal.throwIfAborted();
    const { message } = this;
    const canMove = isQueued || rule.retry;
    const stored = canMove ? storedCall(call, params, { mark, journal: this.record?.() }) : undefined;
    const run = isQueued ? undefined : this;
    const tool = params['name'] as string;
    // The client may disconnect while the task is created.
    this.outliveRequest();
    const task = await tasks
      .create({ call, tool, rule, statusMessage: message, stored, run })
      .catch((error: unknown) => {
        this.isRefused = true;
        this.endWithRequest();
        throw error;
      });
    if (!isQueued) observed?.begin(task.id, task.run);
    this.resolve(createdResult(task));
    if (isQueued) {
      // The handler runs elsewhere, so this run of the call ends before it.
      const reason = new McpException(McpErrorCode.Refused, 'A runner runs the task');
      this.abort(reason);
      throw reason;
    }
    this.id = task.id;
    this.written = message;
    this.writeMessage(task.id);
  }

  /** Runs the handler. @returns undefined if the call has become a task */
  private run(next: Answer): Promise<Result | undefined> {
    const { observed } = this.parts;
    return observed ? observed.run(() => this.handle(next)) : this.handle(next);
  }

  private async handle(next: Answer): Promise<Result | undefined> {
    const { call, params, tasks, observed, whole } = this.parts;
    let isReleased = false;
    try {
      const result = await next({ ...call, reply: this, lifecycle: this }, params);
      const id = await this.end();
      if (id === undefined) return result;
      const final = await whole(call, result);
      isReleased = await tasks.complete(id, this, final);
      observed?.end({ result: final }, isReleased ? 'completed' : undefined);
    } catch (error) {
      const id = await this.end();
      if (id === undefined) throw error;
      const shown = errorOf(error, call.method);
      isReleased = await this.fail(id, shown);
      observed?.end({ error: shown }, isReleased ? 'failed' : undefined);
    } finally {
      if (this.id !== undefined) await tasks.runs.end(this.id, this, isReleased);
    }
  }

  private async fail(id: string, error: JsonRpcError): Promise<boolean> {
    const { tasks } = this.parts;
    try {
      return (await tasks.runs.write(id, this, () => failed(error))) !== undefined;
    } catch (unwritten) {
      tasks.records.warn('A task could not be marked as failed', unwritten);
      return false;
    }
  }

  /** Ends the run. @returns the id of the task, if there is one */
  private async end(): Promise<string | undefined> {
    this.isOver = true;
    clearTimeout(this.timer);
    await this.beginning?.catch(() => undefined);
    this.outliveRequest();
    await this.writing;
    return this.id;
  }

  /** Asks the client by an input request of the task. */
  private readonly elicit: AskClient = async (method, params, { key = method, signal = this.signal }) => {
    const { tasks, observed } = this.parts;
    await this.beginning;
    const id = this.id!;
    const request = { method, ...(params && { params }) } as InputRequest;
    const own = this.unused(key, request);
    const answered = new Promise<Result>(resolve => this.waiting.set(own, resolve));
    const asked = observed?.ask(method);
    try {
      await tasks.ask(id, this, own, request);
      if (this.earlier) this.receive(this.earlier);
      const result = await unlessAborted(answered, signal);
      asked?.({ result });
      return result;
    } catch (error) {
      asked?.({ error, ...(signal.aborted && { aborted: 'cancelled' }) });
      throw error;
    } finally {
      this.waiting.delete(own);
      await tasks.asked(id, this, own);
    }
  };

  /** A key for an elicitation. An elicitation that an earlier run has left open keeps its key, so that it is asked once. */
  private unused(key: string, request: InputRequest): string {
    const { inputRequests = {} } = this.earlier ?? {};
    let own = key;
    for (let count = 2; this.keys.has(own); count++) {
      if (!this.waiting.has(own) && isDeepStrictEqual(inputRequests[own], request)) return own;
      own = `${key}#${count}`;
    }
    this.keys.add(own);
    return own;
  }

  /** Writes the latest status message. Many messages in a row take few writes. */
  private writeMessage(id: string): void {
    const { tasks } = this.parts;
    this.writing = this.writing.then(async () => {
      const { message } = this;
      if (message === this.written) return;
      try {
        await tasks.runs.write(id, this, () => ({ statusMessage: message }));
        this.written = message;
      } catch (error) {
        tasks.records.warn('The status of a task could not be written', error);
      }
    });
  }
}
