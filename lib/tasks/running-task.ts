import type { InputRequest, Result } from '@modelcontextprotocol/server';
import type { Answer } from '../protocol/answer.js';
import { errorOf } from '../protocol/errors.js';
import type { AskClient, McpCall, Params, ReplyChannel } from '../protocol/mcp-call.js';
import { unlessAborted } from '../util/abort.js';
import { TaskLifecycle } from './task-context.js';
import type { TaskRule } from './task-options.js';
import type { StoredTask } from './task-store.js';
import type { TaskRun, Tasks } from './tasks.js';
import { createdResult } from './wire.js';

export interface TaskParts {
  readonly call: McpCall;
  readonly rule: TaskRule;
  readonly tasks: Tasks;
  /** Checks and completes the final result. */
  readonly whole: (call: McpCall, result: Result) => Result | Promise<Result>;
}

/**
 * A call that may become a task, and its channel to the client. Until the task begins, the channel is that of the
 * request. After that, it outlives the request.
 */
export class RunningTask extends TaskLifecycle implements ReplyChannel, TaskRun {
  private readonly ending = new AbortController();
  private readonly onRequestEnd = () => this.ending.abort(this.parts.call.reply.signal.reason);
  private taskId?: string;
  private beginning?: Promise<void>;
  private message?: string;
  private timer?: NodeJS.Timeout;
  private hasEntered = false;
  /** Whether the task shall begin as soon as the handler runs. */
  private isWanted = false;
  private isOver = false;
  /** Elicitations that wait for an answer. */
  private readonly waiting = new Map<string, (answer: Result) => void>();
  /** The keys of all elicitations. No key is used again. */
  private readonly keys = new Set<string>();
  private resolve!: (result: Result) => void;
  private reject!: (error: unknown) => void;

  constructor(private readonly parts: TaskParts) {
    super();
    const { signal } = parts.call.reply;
    if (signal.aborted) this.onRequestEnd();
    else signal.addEventListener('abort', this.onRequestEnd, { once: true });
  }

  /** Runs the call. The answer is the task, or the result of a call that ends before its task begins. */
  answer(next: Answer, params: Params): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      this.run(next, params).then(result => result && resolve(result), reject);
    });
  }

  get id(): string | undefined {
    return this.taskId;
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

  /** A task has no stream: it sends no progress and no log messages. */
  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    if (this.taskId === undefined) await this.parts.call.reply.notify(method, params);
  }

  extend(): void {
    if (this.taskId === undefined) this.parts.call.reply.extend?.();
  }

  get ask(): AskClient | undefined {
    return this.taskId === undefined ? undefined : this.elicit;
  }

  async onEnter(): Promise<void> {
    this.hasEntered = true;
    const { after } = this.parts.rule;
    if (after === undefined || this.isWanted) return this.begin();
    this.timer ??= setTimeout(() => this.beginSoon(), after);
  }

  status(message: string): void {
    this.message = message;
    if (this.taskId === undefined) this.beginSoon();
    else this.writeMessage(this.taskId);
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

  abort(reason: Error): void {
    this.ending.abort(reason);
  }

  private beginSoon(): void {
    this.begin().catch((error: Error) => {
      this.reject(error);
      this.abort(error);
    });
  }

  private async create(): Promise<void> {
    const { call, rule, tasks } = this.parts;
    clearTimeout(this.timer);
    this.signal.throwIfAborted();
    const { message } = this;
    const task = await tasks.create(this, call, rule, message);
    call.reply.signal.removeEventListener('abort', this.onRequestEnd);
    this.taskId = task.id;
    this.resolve(createdResult(task));
    if (this.message !== message) this.writeMessage(task.id);
  }

  /** Runs the handler. @returns undefined if the call has become a task */
  private async run(next: Answer, params: Params): Promise<Result | undefined> {
    const { call, tasks, whole } = this.parts;
    try {
      const result = await next({ ...call, reply: this, lifecycle: this }, params);
      const id = await this.end();
      if (id === undefined) return result;
      await tasks.complete(id, await whole(call, result));
    } catch (error) {
      const id = await this.end();
      if (id === undefined) throw error;
      await tasks
        .fail(id, errorOf(error, call.method))
        .catch((failed: unknown) => tasks.warn('A task could not be marked as failed', failed));
    } finally {
      tasks.ended(this, this.taskId);
    }
  }

  /** Ends the run. @returns the id of the task, if there is one */
  private async end(): Promise<string | undefined> {
    this.isOver = true;
    clearTimeout(this.timer);
    // A refused task is not created, and its handler knows, or has been aborted.
    await this.beginning?.catch(() => undefined);
    this.parts.call.reply.signal.removeEventListener('abort', this.onRequestEnd);
    return this.taskId;
  }

  /** Asks the client by an input request of the task. */
  private readonly elicit: AskClient = async (method, params, { key = method, signal = this.signal }) => {
    const { tasks } = this.parts;
    const id = this.taskId!;
    const own = this.unused(key);
    const answered = new Promise<Result>(resolve => this.waiting.set(own, resolve));
    try {
      await tasks.ask(id, own, { method, ...(params && { params }) } as InputRequest);
      return await unlessAborted(answered, signal);
    } finally {
      this.waiting.delete(own);
      await tasks.asked(id, own);
    }
  };

  private unused(key: string): string {
    let own = key;
    for (let count = 2; this.keys.has(own); count++) own = `${key}#${count}`;
    this.keys.add(own);
    return own;
  }

  private writeMessage(id: string): void {
    const { tasks } = this.parts;
    tasks
      .change(id, () => ({ statusMessage: this.message }))
      .catch((error: unknown) => tasks.warn('The status of a task could not be written', error));
  }
}
