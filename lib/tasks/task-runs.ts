import type { Logger } from '@nestjs/common';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { RunningWork } from '../protocol/running-calls.js';
import type { StoredTask, TaskStatus } from '../stores/task-store.js';
import { ended, isFinal, reached, type Change, type TaskRecords } from './task-records.js';

/** How often leases are renewed within their duration. */
const BEATS = 3;

/** Tasks of dead processes that are started again at once. */
const AT_ONCE = 100;

/** A handler of this process that runs for a task. */
export interface TaskRun {
  /** Whether it waits for its client. */
  readonly isAsking: boolean;
  readonly isOver: boolean;
  /** Passes the answers of the client on to the handler. */
  receive(task: StoredTask): void;
  /** Aborts the handler's signal. @param status of the task, if it has ended */
  abort(reason: Error, status?: TaskStatus): void;
}

interface Running {
  readonly task: StoredTask;
  readonly run: TaskRun;
  /** The latest revision that the run has received. */
  revision: number;
  unwatch?: () => Promise<void>;
}

interface RunsOptions {
  readonly server: string;
  readonly leaseMs: number;
  /** How many tasks may run in this process before it stops taking over those of dead ones. */
  readonly max: number;
  readonly records: TaskRecords;
  readonly logger: Logger;
  /** Called with a task whose process has died or shut down. The lease of the task belongs to this process. */
  readonly onLapsed: (id: string) => Promise<void>;
}

/** The tasks that run in this process. It leases them, so that another process notices if this one dies. */
export class TaskRuns extends RunningWork<Running> {
  private readonly running = new Map<string, Running>();
  /** Tasks of dead processes that this process starts again. */
  private readonly restarting = new Set<string>();
  private readonly beating: NodeJS.Timeout;
  private isBusy = false;
  private isTaking = false;
  private isClosing = false;
  /** Since when the store has answered without a failure. */
  private answeredSince?: number;

  /** The number of tasks that run in this process. */
  get size(): number {
    return this.running.size;
  }

  constructor(private readonly options: RunsOptions) {
    super();
    this.beating = setInterval(() => void this.beat(), options.leaseMs / BEATS).unref();
  }

  /** Watches a task, and leases it to this process. @throws UnavailableException */
  async start(task: StoredTask, run: TaskRun): Promise<void> {
    const { records, server, leaseMs } = this.options;
    const { id, revision } = task;
    const running: Running = { task, run, revision };
    this.running.set(id, running);
    this.add(running);
    try {
      const watched = records.store.watch(id, changed => void this.changed(running, changed));
      await reached(
        Promise.all([
          records.store.lease(server, [id], leaseMs),
          watched.then(unwatch => (running.unwatch = unwatch)),
        ]),
      );
      // Its client knows a task that was queued, so it may have cancelled it before the watch began.
      if (revision > 0) await this.changed(running, undefined);
    } catch (error) {
      await this.end(id, run);
      throw error;
    }
  }

  /**
   * Changes a task for its run, and waits for the store. A run that another run has replaced changes nothing.
   * @returns undefined if the task has not changed
   * @throws UnavailableException if the store is away for as long as the task lives; StoreFull
   */
  async write(id: string, run: TaskRun, to: Change): Promise<StoredTask | undefined> {
    const running = this.running.get(id);
    if (running?.run !== run) return undefined;
    const own: Change = task => (task.run === running.task.run ? to(task) : undefined);
    const changed = await this.options.records.keep(id, own, running.task.expiresAt);
    if (!changed) return undefined;
    running.revision = changed.revision;
    // Another process may have added answers before.
    run.receive(changed);
    return changed;
  }

  /** Called when a handler has ended. @param isReleased whether its lease ends */
  async end(id: string, run: TaskRun, isReleased = false): Promise<void> {
    const running = this.running.get(id);
    if (running?.run !== run) return;
    const { records, server } = this.options;
    this.running.delete(id);
    try {
      await running.unwatch?.();
      if (isReleased) await records.store.release(server, [id]);
    } catch (error) {
      records.warn('The lease of a task could not be ended', error);
    }
    this.delete(running);
  }

  /**
   * Waits up to `timeoutMs` milliseconds for running handlers. Tasks that still run are handed over to another process if
   * they can, and fail otherwise; those that wait for their client at once, because the server refuses answers.
   */
  async close(timeoutMs: number): Promise<void> {
    this.isClosing = true;
    await this.leave(({ run }) => run.isAsking);
    await this.idle(timeoutMs);
    const count = await this.leave(() => true);
    clearInterval(this.beating);
    if (count === 0) return;
    this.options.logger.warn(
      `Tasks that did not end within ${timeoutMs} ms ("shutdownTimeoutMs") of the shutdown have failed or were handed over: ${count}`,
    );
  }

  /** Renews the leases, then takes over tasks. It does not wait for their start, because a queue may not answer. */
  private async beat(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    const { records, server, leaseMs } = this.options;
    try {
      await records.store.lease(server, [...this.running.keys(), ...this.restarting], leaseMs);
      this.answeredSince ??= performance.now();
      void this.takeOver();
    } catch {
      this.answeredSince = undefined;
    } finally {
      this.isBusy = false;
    }
  }

  /** Takes over tasks of processes that have died, as many as this process may run. */
  private async takeOver(): Promise<void> {
    const { records, server, leaseMs, max } = this.options;
    const { running, restarting, answeredSince = Infinity } = this;
    // After an outage of the store, the other processes first renew their leases.
    if (this.isTaking || performance.now() - answeredSince < leaseMs) return;
    this.isTaking = true;
    try {
      while (!this.isClosing) {
        const free = Math.min(AT_ONCE, max - running.size) - restarting.size;
        const ids = free > 0 ? await records.store.takeLapsed(server, leaseMs, free) : [];
        if (ids.length === 0) return;
        for (const id of ids) void this.restart(id);
      }
    } catch {
      this.answeredSince = undefined;
    } finally {
      this.isTaking = false;
    }
  }

  private async restart(id: string): Promise<void> {
    this.restarting.add(id);
    try {
      await this.options.onLapsed(id);
    } catch (error) {
      this.options.records.warn('A task of a dead process could not be started again', error);
    }
    this.restarting.delete(id);
    void this.takeOver();
  }

  private async changed(running: Running, revision: number | undefined): Promise<void> {
    const { task, run } = running;
    if (run.isOver || (revision !== undefined && revision <= running.revision)) return;
    const now = await this.options.records.read(task.id, task.expiresAt).catch(() => undefined);
    if (run.isOver) return;
    if (now && !isFinal(now) && now.run === task.run) run.receive(now);
    else
      run.abort(
        new McpException(McpErrorCode.Refused, reasonOf(now)),
        now && isFinal(now) ? now.status : undefined,
      );
  }

  private async leave(isMeant: (running: Running) => boolean): Promise<number> {
    const meant = [...this.running.values()].filter(isMeant);
    await Promise.all(meant.map(running => this.abandon(running)));
    return meant.length;
  }

  /** Hands a task over or fails it, then aborts its handler, whose outcome no longer counts. */
  private async abandon({ task: { id, run: number }, run }: Running): Promise<void> {
    const { records, server } = this.options;
    const reason = 'The server is shutting down';
    let status: TaskStatus | undefined;
    try {
      const left = await records.change(id, task => {
        if (task.run !== number) return undefined;
        return task.retry && task.call ? { run: number + 1, isHandedOver: true } : ended(reason);
      });
      if (left?.isHandedOver) await records.store.lease(server, [id], 0);
      else if (left) await records.store.release(server, [id]);
      if (left && isFinal(left)) status = left.status;
    } catch (error) {
      records.warn('A task could not be handed over or marked as failed', error);
    }
    run.abort(new McpException(McpErrorCode.Refused, reason), status);
    await this.end(id, run);
  }
}

function reasonOf(task: StoredTask | undefined): string {
  if (!task) return 'The task is gone';
  if (task.status === 'cancelled') return 'The task was cancelled';
  return task.error?.message ?? 'Another process runs the task';
}
