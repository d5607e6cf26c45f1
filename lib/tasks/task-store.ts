import type { InputRequest, Result } from '@modelcontextprotocol/server';
import type { JsonRpcError } from '../protocol/errors.js';

/** A task is over when its status is `completed`, `failed` or `cancelled`. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A task as a store keeps it. It is JSON. */
export interface StoredTask {
  readonly id: string;
  /** The server and the principal that created it. */
  readonly owner: string;
  /** Increases by 1 with each change. */
  readonly revision: number;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** When the store may delete it, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The elicitations that wait for an answer, by key. */
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  /** The answers that the handler has not received yet, by key. */
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly result?: Result;
  readonly error?: JsonRpcError;
}

/** Keeps tasks. All nodes of a server share it. */
export interface TaskStore {
  /** Keeps a new task. When it resolves, all nodes find the task. @throws Error if the store is full */
  create(task: StoredTask): Promise<void>;
  /** Returns undefined for a task that is unknown or has expired. */
  get(id: string): Promise<StoredTask | undefined>;
  /**
   * Replaces a task in one step, if the `revision` of the kept task is one less.
   * @returns false if another change came first, or the task is gone
   * @throws Error if the store is full
   */
  replace(task: StoredTask): Promise<boolean>;
  /** Deletes a task, if it is there. */
  delete(id: string): Promise<void>;
}
