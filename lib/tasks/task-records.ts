import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@nestjs/common';
import type { InputRequest } from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import { UnavailableException } from '../exceptions/unavailable.exception.js';
import { LimitReached } from '../protocol/caller-limit.js';
import {
  TaskStoreFullError,
  type StoredTask,
  type TaskStatus,
  type TaskStore,
} from '../stores/task-store.js';

/** Delays between attempts to write while the store cannot be reached, in milliseconds; the delay doubles. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

export class StoreFull extends LimitReached {
  /** @param cause only for the log; the client does not see it */
  constructor(override readonly cause: TaskStoreFullError) {
    super(503, 'The store is full');
  }
}

/** Makes the changes of a task. Returns undefined to change nothing. */
export type Change = (task: StoredTask) => Partial<StoredTask> | undefined;

/** Reads and changes the tasks in a store. A task that has ended never changes. */
export class TaskRecords {
  constructor(
    readonly store: TaskStore,
    private readonly logger: Logger,
    /** Called for each task whose final status this process has written. */
    private readonly onEnd: (task: StoredTask) => void,
  ) {}

  /** @throws UnavailableException if the store cannot be reached */
  get(id: string): Promise<StoredTask | undefined> {
    return reached(this.store.get(id));
  }

  /**
   * Changes a task.
   * @returns the changed task; undefined if it has not changed: it has ended, does not exist, or `to` changes nothing
   * @throws UnavailableException if the store cannot be reached; StoreFull
   */
  async change(id: string, to: Change): Promise<StoredTask | undefined> {
    for (;;) {
      const task = await this.get(id);
      const changes = task && !isFinal(task) ? to(task) : undefined;
      if (!task || !changes) return undefined;
      const lastUpdatedAt = new Date().toISOString();
      const changed = { ...task, ...changes, lastUpdatedAt, revision: task.revision + 1 };
      // Another node may have changed the task meanwhile.
      if (!(await reached(this.store.replace(changed)))) continue;
      if (isFinal(changed)) this.onEnd(changed);
      return changed;
    }
  }

  /**
   * Changes a task for its handler, which need not fail because the store is away: waits for the store until `until`.
   * @param until milliseconds since 1970
   * @throws UnavailableException after that time; StoreFull, which the log gets
   */
  keep(id: string, to: Change, until: number): Promise<StoredTask | undefined> {
    return this.retried(() => this.change(id, to), until);
  }

  /** Reads a task for its handler. It waits for the store as `keep` does. @throws UnavailableException */
  read(id: string, until: number): Promise<StoredTask | undefined> {
    return this.retried(() => this.get(id), until);
  }

  private async retried<T>(work: () => Promise<T>, until: number): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof StoreFull) this.warn('A task could not be kept', error);
        if (!(error instanceof UnavailableException) || Date.now() > until) throw error;
        if (pauseMs === FIRST_PAUSE_MS) this.warn('A task waits for its store', error);
      }
      await pause(pauseMs, undefined, { ref: false });
    }
  }

  warn(what: string, error: unknown): void {
    const { message } = ((error as Error).cause ?? error) as Error;
    this.logger.warn(`${what}: ${message}`);
  }
}

/** @throws UnavailableException for the errors of a store that cannot be reached; StoreFull */
export async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof TaskStoreFullError ? new StoreFull(error) : new UnavailableException(error);
  }
}

export const isFinal = ({ status }: StoredTask): boolean =>
  status !== 'working' && status !== 'input_required';

type Elicitations = Pick<StoredTask, 'inputRequests' | 'inputResponses'>;

/** The elicitations that the client has not answered. */
export const openIn = ({ inputRequests = {}, inputResponses = {} }: Elicitations): [string, InputRequest][] =>
  Object.entries(inputRequests).filter(([key]) => !Object.hasOwn(inputResponses, key));

/** The changes of a task that has these elicitations now. */
export const waitingFor = (now: Elicitations): Elicitations & Pick<StoredTask, 'status'> => ({
  ...now,
  status: openIn(now).length > 0 ? 'input_required' : 'working',
});

/** The changes of a task that ends. */
const final = (status: TaskStatus, outcome: Partial<StoredTask> = {}): Partial<StoredTask> => ({
  ...{ status, call: undefined, inputRequests: undefined, inputResponses: undefined },
  ...outcome,
});

export const cancelled = (): Partial<StoredTask> => final('cancelled');

export const completed = (result: StoredTask['result']): Partial<StoredTask> =>
  final('completed', { result });

export const failed = (error: NonNullable<StoredTask['error']>): Partial<StoredTask> =>
  final('failed', { error, statusMessage: error.message });

/** The failure of a task that the server ends. */
export const ended = (message: string): Partial<StoredTask> =>
  failed({ code: McpErrorCode.Refused, message });
