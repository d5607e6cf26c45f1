import { setMaxListeners } from 'node:events';
import type { Client, InputRequest, Result, StandardSchemaV1 } from '@modelcontextprotocol/client';
import { BehaviorSubject } from 'rxjs';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { JsonRpcError } from '../protocol/errors.js';
import { isRecord } from '../util/is-record.js';
import { isTransient, retryAfterOf } from './transient.js';

/** The state of a task, as its server describes it. The result, and input requests, go through the interceptors instead. */
export interface TaskState {
  readonly taskId: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  /** A text of the server on what the task does, or why it ended. */
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** How long the server keeps the task after its creation, in milliseconds. Null: without a limit. */
  readonly ttlMs: number | null;
  /** How long the server asks the client to wait between two polls, in milliseconds. */
  readonly pollIntervalMs?: number;
}

/** A task as its server sends it. */
export interface TaskAnswer extends TaskState {
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly result?: Result;
  readonly error?: JsonRpcError;
}

/** A client that can answer what a task asks. */
export interface AnsweringClient extends Client {
  /** Answers an input request of a task, with the handler that answers those of ordinary calls. */
  answerInput(key: string, request: InputRequest, signal: AbortSignal): Promise<Result>;
}

/** How a task reaches its server: by the client of the call, or by another one after the connection has reopened. */
export interface TaskAccess {
  use<T>(work: (client: AnsweringClient) => Promise<T>): Promise<T>;
  /** Aborts when the connection is closed for good. */
  readonly closed: AbortSignal;
}

/** Bounds and default of the time between two polls, in milliseconds. */
const INTERVAL = { min: 50, default: 1000, max: 60_000 } as const;

/** The most input requests of one task, in all. */
const MAX_INPUTS = 100;

/** The longest delay before a failed request is sent again, in milliseconds. */
const MAX_DELAY_MS = 30_000;

/** A task on a server, and the loop that polls it. */
export class ClientTask {
  readonly id: string;
  readonly states: BehaviorSubject<TaskAnswer>;
  /** The final state. Rejects if the task cannot be read any more, or was abandoned. */
  readonly end: Promise<TaskAnswer>;
  private settle!: { resolve(end: TaskAnswer): void; reject(error: unknown): void };
  private readonly over = new AbortController();
  private readonly asked = new Map<string, AbortController>();
  private readonly sleepers = new Set<() => void>();
  private readonly created = performance.now();
  private polled = this.created;
  private wanting = 0;
  private isPolling = false;

  constructor(
    created: TaskAnswer,
    private readonly access: TaskAccess,
  ) {
    this.id = created.taskId;
    this.states = new BehaviorSubject(created);
    this.end = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    // Nobody may be waiting for it.
    this.end.catch(() => undefined);
    setMaxListeners(0, this.over.signal);
  }

  /** Polls until the task ends. @returns a function that stops the polls, unless somebody else wants them */
  want(): () => void {
    this.wanting++;
    if (!this.isPolling) void this.poll();
    let isWanted = true;
    return () => {
      if (isWanted) this.wanting--;
      isWanted = false;
    };
  }

  async read(): Promise<TaskAnswer> {
    const state = await this.access.use(client => this.get(client));
    this.note(state);
    return state;
  }

  /** Asks the server to cancel the task. */
  async cancel(): Promise<void> {
    await this.persistently(client => this.send(client, 'tasks/cancel'));
    this.wake();
  }

  /** Ends the wait with an error, and cancels the task. */
  abandon(error: unknown): void {
    if (this.isOver) return;
    this.fail(error);
    this.access.use(client => this.send(client, 'tasks/cancel')).catch(() => undefined);
  }

  private get isOver(): boolean {
    return this.over.signal.aborted;
  }

  private get intervalMs(): number {
    const { pollIntervalMs } = this.states.value;
    const wanted = Number.isFinite(pollIntervalMs) ? pollIntervalMs! : INTERVAL.default;
    return Math.min(Math.max(wanted, INTERVAL.min), INTERVAL.max);
  }

  private async poll(): Promise<void> {
    const { closed } = this.access;
    const wake = () => this.wake();
    closed.addEventListener('abort', wake, { once: true });
    this.isPolling = true;
    try {
      while (this.isWanted) {
        await this.pause(this.polled + this.intervalMs - performance.now());
        if (!this.isWanted) break;
        this.note(await this.persistently(client => this.get(client, this.over.signal)));
        this.polled = performance.now();
        this.ask();
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.isPolling = false;
      closed.removeEventListener('abort', wake);
    }
  }

  private get isWanted(): boolean {
    return this.wanting > 0 && !this.isOver;
  }

  private note(state: TaskAnswer): void {
    if (this.isOver) return;
    this.states.next(state);
    if (state.status === 'working' || state.status === 'input_required') return;
    this.settle.resolve(state);
    this.finish();
  }

  private fail(error: unknown): void {
    this.settle.reject(error);
    this.finish();
  }

  private finish(): void {
    this.over.abort(new Error('The task is over'));
    for (const asking of this.asked.values()) asking.abort();
    this.wake();
  }

  /** Answers the new input requests of the task, and gives up those that the server no longer shows. */
  private ask(): void {
    const { inputRequests = {} } = this.states.value;
    for (const [key, asking] of this.asked) if (!Object.hasOwn(inputRequests, key)) asking.abort();
    if (this.isOver) return;
    const fresh = Object.entries(inputRequests).filter(([key]) => !this.asked.has(key));
    if (this.asked.size + fresh.length > MAX_INPUTS) {
      const what = `The task has more than ${MAX_INPUTS} input requests`;
      return this.abandon(new McpException(McpErrorCode.Refused, what));
    }
    for (const [key, request] of fresh) {
      const asking = new AbortController();
      this.asked.set(key, asking);
      this.answer(key, request, asking.signal).catch((error: unknown) => {
        if (!asking.signal.aborted) this.abandon(error);
      });
    }
  }

  private async answer(key: string, request: InputRequest, signal: AbortSignal): Promise<void> {
    const client = await this.persistently(async current => current);
    const inputResponses = { [key]: await client.answerInput(key, request, signal) };
    await this.persistently(current => this.send(current, 'tasks/update', { inputResponses }));
    this.wake();
  }

  /** Works, and tries again after failures of the connection while the server keeps the task. */
  private async persistently<T>(work: (client: AnsweringClient) => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures++) {
      try {
        return await this.access.use(work);
      } catch (error) {
        const { ttlMs } = this.states.value;
        const isKept = ttlMs === null || performance.now() < this.created + ttlMs;
        if (this.isOver || !isKept || !isTransient(error)) throw error;
        const delayMs = Math.max(this.intervalMs, Math.min(this.intervalMs * 2 ** failures, MAX_DELAY_MS));
        await this.pause(Math.max(delayMs, retryAfterOf(error)));
      }
    }
  }

  private get(client: AnsweringClient, signal?: AbortSignal): Promise<TaskAnswer> {
    return client.request({ method: 'tasks/get', params: { taskId: this.id } }, TASK, { signal });
  }

  private async send(client: AnsweringClient, method: string, params = {}): Promise<void> {
    await client.request({ method, params: { taskId: this.id, ...params } }, ACKNOWLEDGEMENT);
  }

  /** Waits, until something changes or the connection is closed for good. */
  private async pause(ms: number): Promise<void> {
    if (ms <= 0 || this.access.closed.aborted) return;
    await new Promise<void>(resolve => {
      const wake = () => {
        clearTimeout(timer);
        this.sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.sleepers.add(wake);
    });
  }

  private wake(): void {
    for (const wake of this.sleepers) wake();
  }
}

const STATUSES: readonly unknown[] = ['working', 'input_required', 'completed', 'failed', 'cancelled'];

const schemaOf = <T>(isValid: (value: Record<string, unknown>) => boolean): StandardSchemaV1<T> => ({
  '~standard': {
    version: 1,
    vendor: 'nestjs-mcp',
    validate: value =>
      isRecord(value) && isValid(value)
        ? { value: value as T }
        : { issues: [{ message: 'it is not a task' }] },
  },
});

const TASK = schemaOf<TaskAnswer>(
  ({ taskId, status }) => typeof taskId === 'string' && STATUSES.includes(status),
);
const ACKNOWLEDGEMENT = schemaOf<Result>(() => true);
