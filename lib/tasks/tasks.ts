import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { InputRequest, Result } from '@modelcontextprotocol/server';
import { readKind } from '../elicitation/questions/input-request.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { UnavailableException } from '../exceptions/unavailable.exception.js';
import { callerOf } from '../protocol/caller.js';
import { CallerLimit, LimitReached, STDIO_CALLER } from '../protocol/caller-limit.js';
import type { JsonRpcError } from '../protocol/errors.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { RunningWork } from '../protocol/running-calls.js';
import { PollPace } from './poll-pace.js';
import type { TaskRule, TaskSettings } from './task-options.js';
import type { StoredTask } from './task-store.js';

/** How often expired tasks are looked for, in milliseconds. */
const SWEEP_MS = 1000;

/** How long a task that failed because of its `ttlMs` is kept, in milliseconds. */
const KEPT_AFTER_MS = 60_000;

/** A handler of this process that runs for a task. */
export interface TaskRun {
  /** Whether it waits for its client. */
  readonly isAsking: boolean;
  /** Passes the answers of the client on to the handler. */
  receive(task: StoredTask): void;
  /** Aborts the handler's signal. */
  abort(reason: Error): void;
}

/** The state of a task on the node that has created it. */
interface Kept {
  readonly caller: string;
  readonly pace: PollPace;
  /** Undefined after the handler has ended, and after the task has expired. */
  run?: TaskRun;
  expiresAt: number;
}

/** The tasks of a server: those in the store, and the handlers that run for them in this process. */
export class Tasks extends RunningWork<TaskRun> {
  readonly limit: CallerLimit;
  private readonly logger: Logger;
  private readonly kept = new Map<string, Kept>();
  private sweeping?: NodeJS.Timeout;
  private isClosing = false;

  constructor(
    private readonly settings: TaskSettings,
    private readonly server: string,
  ) {
    super();
    this.limit = new CallerLimit('tasks', settings);
    this.logger = new Logger(`McpTasks(${server})`);
  }

  /** Creates the task of a handler. @throws McpException if it cannot be kept, or the server shuts down */
  async create(run: TaskRun, call: McpCall, rule: TaskRule, statusMessage?: string): Promise<StoredTask> {
    if (this.isClosing) throw shuttingDown();
    const { ttlMs, pollIntervalMs } = rule;
    const caller = call.http?.caller ?? STDIO_CALLER;
    const reached = this.limit.take(caller);
    if (reached) throw reached;
    const now = Date.now();
    const task: StoredTask = {
      id: randomUUID(),
      owner: this.ownerOf(call),
      revision: 0,
      status: 'working',
      ...(statusMessage !== undefined && { statusMessage }),
      createdAt: new Date(now).toISOString(),
      lastUpdatedAt: new Date(now).toISOString(),
      ttlMs,
      pollIntervalMs,
      expiresAt: now + ttlMs + KEPT_AFTER_MS,
    };
    try {
      await this.settings.store.create(task);
    } catch (error) {
      this.limit.release(caller);
      this.warn('A task could not be created', error);
      throw new UnavailableException(error);
    }
    this.kept.set(task.id, { caller, pace: new PollPace(), run, expiresAt: now + ttlMs });
    this.add(run);
    this.sweeping ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
    return task;
  }

  /** Called when a handler has ended. Its request can be collected as garbage then. */
  ended(run: TaskRun, id: string | undefined): void {
    const kept = id === undefined ? undefined : this.kept.get(id);
    if (kept) kept.run = undefined;
    this.delete(run);
  }

  /** Finds a task of the caller. @throws McpException (-32602), the same for unknown tasks and for those of others */
  async find(call: McpCall, id: unknown): Promise<StoredTask> {
    const task = typeof id === 'string' ? await this.settings.store.get(id) : undefined;
    if (task && task.owner === this.ownerOf(call)) return task;
    throw new McpException(McpErrorCode.InvalidParams, 'Unknown or expired task');
  }

  /** Finds a task for a poll. @throws LimitReached if its caller polls it too often */
  async poll(call: McpCall, id: unknown): Promise<StoredTask> {
    const task = await this.find(call, id);
    if (this.kept.get(task.id)?.pace.isTooFast()) {
      throw new LimitReached(429, 'The task is polled too often; wait for its "pollIntervalMs"');
    }
    return task;
  }

  /**
   * Changes a task.
   * @param to returns the changes, or undefined if there are none
   * @returns undefined if the task has not changed: its status is final, or it does not exist
   */
  async change(
    id: string,
    to: (task: StoredTask) => Partial<StoredTask> | undefined,
  ): Promise<StoredTask | undefined> {
    const { store } = this.settings;
    for (;;) {
      const task = await store.get(id);
      const changes = task && !isFinal(task) ? to(task) : undefined;
      if (!task || !changes) return undefined;
      const lastUpdatedAt = new Date().toISOString();
      const changed = { ...task, ...changes, lastUpdatedAt, revision: task.revision + 1 };
      // Another node may have changed the task meanwhile.
      if (await store.replace(changed)) return changed;
    }
  }

  async ask(id: string, key: string, request: InputRequest): Promise<void> {
    await this.change(id, ({ inputRequests }) => waitingFor({ ...inputRequests, [key]: request }));
  }

  /** Ends an elicitation, with or without an answer. */
  async asked(id: string, key: string): Promise<void> {
    await this.change(id, ({ inputRequests, inputResponses }) => ({
      ...waitingFor(without(key, inputRequests)),
      inputResponses: without(key, inputResponses),
    }));
  }

  /**
   * Keeps the client's answers, and passes them on to the handler. Answers to other keys are ignored.
   * @throws McpException (-32602) for an answer of the wrong kind
   */
  async answer(
    { id }: StoredTask,
    { inputResponses: given = {}, malformedResponses = [] }: McpCall,
  ): Promise<void> {
    const changed = await this.change(id, ({ inputRequests = {}, inputResponses }) => {
      const open = { ...inputRequests };
      const answers = { ...inputResponses };
      for (const [key, { method }] of Object.entries(inputRequests)) {
        if (malformedResponses.includes(key)) readKind(method, undefined);
        if (!Object.hasOwn(given, key)) continue;
        readKind(method, given[key]);
        answers[key] = given[key];
        delete open[key];
      }
      return { ...waitingFor(open), inputResponses: answers };
    });
    const kept = this.kept.get(id);
    kept?.pace.free();
    if (changed) kept?.run?.receive(changed);
  }

  /** Cancels a task, unless it has ended. */
  async cancel({ id }: StoredTask): Promise<void> {
    await this.change(id, () => ({ status: 'cancelled', ...NOTHING_OPEN }));
    const kept = this.kept.get(id);
    kept?.pace.free();
    kept?.run?.abort(new McpException(McpErrorCode.Refused, 'The task was cancelled'));
  }

  /** @throws McpException for a result that is too large */
  async complete(id: string, result: Result): Promise<void> {
    const { maxResultBytes } = this.settings;
    const json = JSON.stringify(result);
    if (Buffer.byteLength(json) > maxResultBytes) {
      throw new McpException(
        McpErrorCode.Refused,
        `The result is larger than "maxResultBytes" (${maxResultBytes})`,
      );
    }
    await this.change(id, () => ({
      status: 'completed',
      result: JSON.parse(json) as Result,
      ...NOTHING_OPEN,
    }));
  }

  async fail(id: string, error: JsonRpcError): Promise<void> {
    await this.change(id, () => ({ status: 'failed', error, statusMessage: error.message, ...NOTHING_OPEN }));
  }

  /**
   * Waits up to `timeoutMs` milliseconds for running handlers, then fails their tasks. Those that wait for their client
   * fail at once, because the server refuses answers.
   */
  async close(timeoutMs: number): Promise<void> {
    this.isClosing = true;
    await this.failRuns(({ isAsking }) => isAsking);
    await this.idle(timeoutMs);
    const count = await this.failRuns(() => true);
    clearInterval(this.sweeping);
    if (count === 0) return;
    this.logger.warn(
      `Tasks that did not end within ${timeoutMs} ms ("shutdownTimeoutMs") of the shutdown have failed: ${count}`,
    );
  }

  /** Logs a failure of the store. */
  warn(what: string, error: unknown): void {
    this.logger.warn(`${what}: ${(error as Error).message}`);
  }

  private async failRuns(isMeant: (run: TaskRun) => boolean): Promise<number> {
    const meant = [...this.kept].filter(([, { run }]) => run && isMeant(run));
    await Promise.all(meant.map(([id, kept]) => this.abandon(id, kept, shuttingDown())));
    return meant.length;
  }

  /** Fails a task, then aborts its handler, whose outcome no longer counts. */
  private async abandon(id: string, { run }: Kept, { code, message }: McpException): Promise<void> {
    try {
      await this.fail(id, { code, message });
    } catch (error) {
      this.warn('A task could not be marked as failed', error);
    }
    run?.abort(new McpException(code, message));
  }

  private sweep(): void {
    const now = Date.now();
    for (const [id, kept] of this.kept) {
      if (kept.expiresAt > now) continue;
      if (kept.run) {
        const error = new McpException(McpErrorCode.Refused, 'The task did not end within its "ttlMs"');
        void this.abandon(id, kept, error);
        kept.run = undefined;
        kept.expiresAt = now + KEPT_AFTER_MS;
      } else this.forget(id, kept);
    }
    if (this.kept.size > 0) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }

  private forget(id: string, { caller }: Kept): void {
    this.kept.delete(id);
    this.limit.release(caller);
    this.settings.store.delete(id).catch((error: unknown) => this.warn('A task could not be deleted', error));
  }

  /** Users of one OAuth client are different principals, and each server has its own tasks. */
  private ownerOf({ authInfo, http }: McpCall): string {
    return JSON.stringify([this.server, callerOf(authInfo, http?.request)]);
  }
}

const NOTHING_OPEN = { inputRequests: undefined, inputResponses: undefined } as const;

const isFinal = ({ status }: StoredTask): boolean => status !== 'working' && status !== 'input_required';

const waitingFor = (
  inputRequests: StoredTask['inputRequests'] = {},
): Pick<StoredTask, 'status' | 'inputRequests'> =>
  Object.keys(inputRequests).length > 0
    ? { status: 'input_required', inputRequests }
    : { status: 'working', inputRequests: undefined };

function without<T>(key: string, record: Readonly<Record<string, T>> = {}): Record<string, T> {
  const left = { ...record };
  delete left[key];
  return left;
}

const shuttingDown = (): McpException =>
  new McpException(McpErrorCode.Refused, 'The server is shutting down');
