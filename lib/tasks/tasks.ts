import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { InputRequest, Result } from '@modelcontextprotocol/server';
import { readAnswer, readKind } from '../elicitation/requests/input-request.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { UnavailableException } from '../exceptions/unavailable.exception.js';
import { callerOf } from '../protocol/caller.js';
import { CallerLimit, limitKeyIn, LimitReached } from '../protocol/caller-limit.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { unknownTask } from '../protocol/tasks.js';
import { compileSchema } from '../schema/compile-schema.js';
import type { JsonSchema } from '../schema/types.js';
import type { StoredCall, StoredTask } from '../stores/task-store.js';
import { PollPace } from './poll-pace.js';
import type { QueuedTask, TaskRule, TaskSettings } from './task-options.js';
import {
  cancelled,
  completed,
  ended,
  isFinal,
  openIn,
  reached,
  TaskRecords,
  waitingFor,
} from './task-records.js';
import { TaskRuns, type TaskRun } from './task-runs.js';

/** How often expired tasks are looked for, in milliseconds. */
const SWEEP_MS = 1000;

/** How long a task that failed because of its `ttlMs` is kept, in milliseconds. */
const KEPT_AFTER_MS = 60_000;

/** How many tasks of dead processes are run again, each. */
const MAX_LOST_RUNS = 5;

/** How many running tasks are read for a new one, before that counts like a poll. */
const MAX_READ = 50;

/** Expired tasks that are changed at once. */
const AT_ONCE = 100;

/** A task that this node created or runs, until it expires. */
interface Kept {
  /** The key of the caller in the limit. Undefined if another node created the task. */
  readonly caller?: string;
  hasExpired?: boolean;
  expiresAt: number;
}

export interface NewTask {
  readonly call: McpCall;
  readonly tool: string;
  readonly rule: TaskRule;
  readonly statusMessage?: string;
  /** The call, if another process can run it. */
  readonly stored?: StoredCall;
  /** Undefined for a task that a runner starts. */
  readonly run?: TaskRun;
}

interface TasksOptions {
  readonly settings: TaskSettings;
  readonly server: string;
  /** Runs a task again, whose process has died or shut down. */
  readonly restart: (task: StoredTask) => Promise<void>;
  /** Called for each task whose final status this process has written. */
  readonly onEnd: (task: StoredTask) => void;
}

export class Tasks {
  readonly limit: CallerLimit;
  readonly records: TaskRecords;
  readonly runs: TaskRuns;
  private readonly kept = new Map<string, Kept>();
  private readonly pace = new PollPace();
  /** The latest search of each caller for an ended task. */
  private readonly evicting = new Map<string, Promise<boolean>>();
  private sweeping?: NodeJS.Timeout;
  private isSweeping = false;
  private isClosing = false;

  constructor(private readonly options: TasksOptions) {
    const { settings, server, onEnd } = options;
    const logger = new Logger(`McpTasks(${server})`);
    this.limit = new CallerLimit('tasks', settings);
    this.records = new TaskRecords(settings.store, logger, onEnd);
    this.runs = new TaskRuns({
      ...{ server, logger, records: this.records, leaseMs: settings.leaseMs, max: settings.max },
      onLapsed: id => this.lapsed(id),
    });
  }

  /** Creates a task. @throws McpException if it cannot be kept, or the server shuts down */
  async create({ call, tool, rule, statusMessage, stored, run }: NewTask): Promise<StoredTask> {
    if (this.isClosing) throw new McpException(McpErrorCode.Refused, 'The server is shutting down');
    const { settings, server } = this.options;
    const { ttlMs, pollIntervalMs, retry } = rule;
    const caller = limitKeyIn(call);
    while (this.limit.isFull(caller) && (await this.evict(caller)));
    const refused = this.limit.take(caller);
    if (refused) throw refused;
    const now = Date.now();
    const task: StoredTask = {
      id: randomUUID(),
      server,
      tool,
      owner: ownerOf(call),
      revision: 0,
      status: 'working',
      ...(statusMessage !== undefined && { statusMessage }),
      createdAt: new Date(now).toISOString(),
      lastUpdatedAt: new Date(now).toISOString(),
      ttlMs,
      pollIntervalMs,
      expiresAt: now + ttlMs + KEPT_AFTER_MS,
      run: run ? 1 : 0,
      ...(retry && { retry }),
      ...(stored && { call: stored }),
    };
    try {
      await reached(settings.store.create(task));
      await (run ? this.runs.start(task, run) : settings.runner!.start(queuedTask(task)));
    } catch (error) {
      this.limit.release(caller);
      this.records.warn('A task could not be created', error);
      settings.store.delete(task.id).catch(() => undefined);
      throw error instanceof McpException ? error : new UnavailableException(error);
    }
    this.keep(task, caller);
    return task;
  }

  /**
   * Takes a queued task for a run in this process.
   * @param queued the `run` of the task when it was queued
   * @returns undefined if another run has begun since then, or the task has ended
   * @throws UnavailableException if the store cannot be reached; Error if the server shuts down
   */
  async take(id: string, queued: number): Promise<StoredTask | undefined> {
    if (this.isClosing) throw new Error('The application is shutting down, so it runs no further tasks');
    const { settings, server } = this.options;
    const isQueued = (task: StoredTask) => task.run === queued && !isFinal(task);
    const found = await this.records.get(id);
    if (!found || !isQueued(found)) return undefined;
    // A process that dies after the change is noticed by its lease.
    await reached(settings.store.lease(server, [id], settings.leaseMs));
    const task = await this.records.change(id, now => (isQueued(now) ? { run: queued + 1 } : undefined));
    if (task) this.keep(task);
    return task;
  }

  /** Expires a task at its time. @param caller counts it for the limit until then */
  private keep({ id, createdAt, ttlMs }: StoredTask, caller?: string): void {
    if (this.kept.has(id)) return;
    this.kept.set(id, { caller, expiresAt: Date.parse(createdAt) + ttlMs });
    this.sweeping ??= setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  /** Finds a task of the caller. Undefined for unknown tasks and for those of others. @throws UnavailableException */
  async findIfAny(call: McpCall, id: string): Promise<StoredTask | undefined> {
    const task = await this.records.get(id);
    if (task?.server !== this.options.server || task.owner !== ownerOf(call)) return undefined;
    // The node that keeps the task may have ended.
    return (isOverdue(task) && (await this.fail(id))) || task;
  }

  /** Finds a task of the caller. @throws McpException (-32602), the same for unknown tasks and for those of others */
  async find(call: McpCall, id: unknown): Promise<StoredTask> {
    const task = typeof id === 'string' ? await this.findIfAny(call, id) : undefined;
    if (task) return task;
    throw unknownTask();
  }

  /** Finds a task for a poll. @throws LimitReached if its caller polls it too often */
  async poll(call: McpCall, id: unknown): Promise<StoredTask> {
    const task = await this.find(call, id);
    if (this.pace.isTooFast(task.id, task.revision)) throw tooFast();
    return task;
  }

  /**
   * Counts an answer or a cancellation of the caller that has changed nothing like a poll. A change allows the next poll.
   * @param changed what `answer` or `cancel` has returned
   * @throws LimitReached if its caller sends too many that change nothing
   */
  acknowledge({ id }: StoredTask, changed: StoredTask | undefined): void {
    if (changed) this.pace.free(id);
    else if (this.pace.isTooFast(id)) throw tooFast();
  }

  /** The number of tasks that this node has created or runs. */
  get size(): number {
    return this.kept.size;
  }

  /** The latest of them, the latest first. @throws UnavailableException */
  async latest(max: number): Promise<StoredTask[]> {
    const ids = [...this.kept.keys()].slice(-max).reverse();
    const found = await Promise.all(ids.map(id => this.records.get(id)));
    return found.flatMap(task => task ?? []);
  }

  /** Adds an elicitation to a task. */
  async ask(id: string, run: TaskRun, key: string, request: InputRequest): Promise<void> {
    await this.runs.write(id, run, ({ inputRequests, inputResponses, keys = [] }) => ({
      ...waitingFor({ inputRequests: { ...inputRequests, [key]: request }, inputResponses }),
      keys: keys.includes(key) ? keys : [...keys, key],
    }));
  }

  /** Ends an elicitation, with or without an answer. */
  async asked(id: string, run: TaskRun, key: string): Promise<void> {
    await this.runs.write(id, run, ({ inputRequests, inputResponses }) =>
      waitingFor({
        inputRequests: without(key, inputRequests),
        inputResponses: without(key, inputResponses),
      }),
    );
  }

  /**
   * Keeps the client's answers. The process that runs the task passes them on to the handler. Answers to other keys are
   * ignored.
   * @returns undefined if no answer is kept
   * @throws McpException (-32602) for an answer of the wrong kind, and for a form that is not filled in as asked
   */
  async answer(
    found: StoredTask,
    { inputResponses: given = {}, malformedResponses = [] }: McpCall,
  ): Promise<StoredTask | undefined> {
    for (const [key, request] of openIn(found)) {
      if (Object.hasOwn(given, key)) await checkAnswer(request, given[key]);
    }
    return this.records.change(found.id, task => {
      const answers: Record<string, unknown> = {};
      for (const [key, { method }] of openIn(task)) {
        if (malformedResponses.includes(key)) readKind(method, undefined);
        if (!Object.hasOwn(given, key)) continue;
        readKind(method, given[key]);
        answers[key] = given[key];
      }
      if (Object.keys(answers).length === 0) return undefined;
      const inputResponses = { ...task.inputResponses, ...answers };
      return waitingFor({ inputRequests: task.inputRequests, inputResponses });
    });
  }

  /**
   * Cancels a task of this server, unless it has ended. The process that runs it aborts the handler.
   * @returns undefined if nothing has changed
   */
  cancel({ id }: Pick<StoredTask, 'id'>): Promise<StoredTask | undefined> {
    return this.records.change(id, ({ server }) =>
      server === this.options.server ? cancelled() : undefined,
    );
  }

  /** @throws McpException for a result that is too large */
  async complete(id: string, run: TaskRun, result: Result): Promise<boolean> {
    const { maxResultBytes } = this.options.settings;
    const json = JSON.stringify(result);
    if (Buffer.byteLength(json) > maxResultBytes) {
      throw new McpException(
        McpErrorCode.Refused,
        `The result is larger than "maxResultBytes" (${maxResultBytes})`,
      );
    }
    return (await this.runs.write(id, run, () => completed(JSON.parse(json) as Result))) !== undefined;
  }

  /** Waits up to `timeoutMs` milliseconds for running handlers, then ends their tasks. */
  async close(timeoutMs: number): Promise<void> {
    this.isClosing = true;
    await this.runs.close(timeoutMs);
    clearInterval(this.sweeping);
  }

  /** Runs a task of a dead process again, or fails it. */
  private async lapsed(id: string): Promise<void> {
    const { settings, server, restart } = this.options;
    const task = await this.records.get(id);
    const loss = task && lossOf(task);
    if (loss !== undefined) await this.records.change(id, () => ended(loss));
    if (!task || isFinal(task) || loss !== undefined) return settings.store.release(server, [id]);
    await restart(task);
    // Only now, because a queue that is down loses no run.
    await this.records.change(id, ({ isHandedOver, lostRuns = 0 }) =>
      isHandedOver ? { isHandedOver: undefined } : { lostRuns: lostRuns + 1 },
    );
  }

  private async sweep(): Promise<void> {
    if (this.isSweeping) return;
    this.isSweeping = true;
    const now = Date.now();
    const expired = [...this.kept].filter(([, { expiresAt }]) => expiresAt <= now);
    while (expired.length > 0) {
      await Promise.all(expired.splice(0, AT_ONCE).map(([id, kept]) => this.expire(id, kept)));
    }
    this.isSweeping = false;
    if (this.kept.size > 0) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }

  /** Fails a task that has not ended, and deletes it later. */
  private async expire(id: string, kept: Kept): Promise<void> {
    try {
      if (!kept.hasExpired) {
        // Another process may have failed it.
        const task = (await this.fail(id)) ?? (await this.records.get(id));
        kept.hasExpired = true;
        const endedAt = task ? Date.parse(task.lastUpdatedAt) : 0;
        if (endedAt >= kept.expiresAt) {
          kept.expiresAt = endedAt + KEPT_AFTER_MS;
          return;
        }
      }
      await this.options.settings.store.delete(id);
    } catch (error) {
      this.records.warn('An expired task could not be deleted', error);
      // The store deletes the task itself.
      if (Date.now() < kept.expiresAt + KEPT_AFTER_MS) return;
    }
    this.forget(id, kept);
  }

  private fail(id: string): Promise<StoredTask | undefined> {
    return this.records.change(id, () => ended('The task did not end within its "ttlMs"'));
  }

  /** Deletes the oldest ended task of a caller. @returns false if it has none. @throws UnavailableException */
  private evict(caller: string): Promise<boolean> {
    // One at a time, so that the pace counts each search.
    const earlier = this.evicting.get(caller)?.catch(() => undefined);
    const own = Promise.resolve(earlier)
      .then(() => this.evictOne(caller))
      .finally(() => this.evicting.get(caller) === own && this.evicting.delete(caller));
    this.evicting.set(caller, own);
    return own;
  }

  private async evictOne(caller: string): Promise<boolean> {
    if (this.pace.isSpent(caller)) return false;
    let running = 0;
    for (const [id, kept] of this.kept) {
      if (kept.caller !== caller) continue;
      const task = await this.records.get(id);
      if (task && !isFinal(task)) {
        running += 1;
        // A caller whose tasks run must not make the server read them all with each call.
        if (running % MAX_READ === 0 && this.pace.isTooFast(caller)) return false;
        continue;
      }
      await reached(this.options.settings.store.delete(id));
      if (this.forget(id, kept)) return true;
    }
    this.pace.isTooFast(caller);
    return false;
  }

  /** @returns false if it was forgotten before */
  private forget(id: string, { caller }: Kept): boolean {
    const isKept = this.kept.delete(id);
    if (isKept && caller !== undefined) this.limit.release(caller);
    return isKept;
  }
}

const isOverdue = (task: StoredTask): boolean =>
  !isFinal(task) && Date.now() >= Date.parse(task.createdAt) + task.ttlMs;

/** Why a task of a dead process does not run again; undefined if it does. */
function lossOf({ call, retry, isHandedOver, lostRuns = 0 }: StoredTask): string | undefined {
  if (isHandedOver) return undefined;
  if (!call || !retry) return 'The process that ran the task has ended';
  return lostRuns === MAX_LOST_RUNS ? 'The processes that ran the task have ended' : undefined;
}

const tooFast = (): LimitReached =>
  new LimitReached(429, 'The task is polled too often; wait for its "pollIntervalMs"');

/** Checks a form, too, so that a mistake of the user does not end the task. @throws McpException (-32602) */
async function checkAnswer({ method, params }: InputRequest, answer: unknown): Promise<void> {
  const form = params && 'requestedSchema' in params ? (params.requestedSchema as JsonSchema) : undefined;
  await readAnswer(method, answer, form && (await compileSchema(form, 'input')));
}

/** A queue gets neither the call nor its caller. */
export const queuedTask = ({ id, server, run, expiresAt }: StoredTask): QueuedTask => ({
  id,
  server,
  run,
  expiresAt,
});

/** Users of one OAuth client are different principals. */
const ownerOf = ({ authInfo, http, identity }: McpCall): string =>
  identity?.key ?? callerOf(authInfo, http?.request);

function without<T>(key: string, record: Readonly<Record<string, T>> = {}): Record<string, T> {
  const left = { ...record };
  delete left[key];
  return left;
}
