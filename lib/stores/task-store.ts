import type {
  AuthInfo,
  ClientCapabilities,
  Implementation,
  InputRequest,
  LoggingLevel,
  RequestId,
  Result,
} from '@modelcontextprotocol/server';
import type { JsonRpcError } from '../protocol/errors.js';
import type { CallerIdentity, Params } from '../protocol/mcp-call.js';

/** A task is over when its status is `completed`, `failed` or `cancelled`. */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** The call of a task, as JSON, so that another process can run it. */
export interface StoredCall {
  readonly requestId: RequestId;
  readonly params: Params;
  readonly protocolVersion: string;
  /** The caller, without its token. */
  readonly authInfo?: Omit<AuthInfo, 'token'>;
  /** The caller, as limits and interceptors know it without the request. */
  readonly identity?: CallerIdentity;
  readonly clientInfo?: Implementation;
  readonly clientCapabilities?: ClientCapabilities;
  readonly meta?: Params;
  readonly minLogLevel?: LoggingLevel;
  /** The trace position of the call. */
  readonly mark?: string;
  /** What earlier runs have recorded: answers, steps and deterministic values. */
  readonly journal?: unknown;
}

/** A task as a store keeps it. It is JSON. */
export interface StoredTask {
  readonly id: string;
  /** The name of the server. */
  readonly server: string;
  /** The name of the tool that was called. */
  readonly tool: string;
  /** The principal that created it. */
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
  /** Counts the runs of the handler. 0: a runner has not started it yet. Changes of an earlier run do not count. */
  readonly run: number;
  /** How many runs ended because their process died. */
  readonly lostRuns?: number;
  /** Whether the latest run has been given up by a process that shuts down. */
  readonly isHandedOver?: boolean;
  /** Whether a task whose process died is run again. */
  readonly retry?: boolean;
  /** Undefined if only the process that created the task can run it. */
  readonly call?: StoredCall;
  /** The keys of all its elicitations. No key is used again. */
  readonly keys?: readonly string[];
  /** The elicitations whose answers the handler has not received yet, by key. */
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  /** Answers to them, by key. */
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly result?: Result;
  readonly error?: JsonRpcError;
}

/**
 * The store has no room for a task.
 * @example
 * ```ts
 * async create(task: StoredTask) {
 *   if (this.count === this.max) throw new TaskStoreFullError("The store is full");
 *   await this.insert(task);
 * }
 * ```
 */
export class TaskStoreFullError extends Error {}

/**
 * Keeps tasks. All nodes of a server share it. `contracts.taskStore` of `nestjs-mcp/testing` tests an implementation.
 */
export interface TaskStore {
  /** Keeps a new task. When it resolves, all nodes find the task. @throws TaskStoreFullError */
  create(task: StoredTask): Promise<void>;
  /** Returns undefined for a task that is unknown or has expired. */
  get(id: string): Promise<StoredTask | undefined>;
  /**
   * Replaces a task in one step, if the `revision` of the kept task is one less.
   * @returns false if another change came first, or the task is gone
   * @throws TaskStoreFullError, but not for a task that has failed or was cancelled
   */
  replace(task: StoredTask): Promise<boolean>;
  /** Deletes a task, if it is there. */
  delete(id: string): Promise<void>;
  /**
   * Watches a task. Resolves when changes arrive.
   * @param listener called with the new revision after each change, on any node; and with undefined when changes may have
   * been missed. It does not throw
   * @returns a function that stops watching
   */
  watch(id: string, listener: (revision: number | undefined) => void): Promise<() => Promise<void>>;
  /** Leases tasks to the node that runs them, or renews the leases, for `leaseMs` milliseconds from now. */
  lease(server: string, ids: readonly string[], leaseMs: number): Promise<void>;
  /**
   * Leases tasks whose lease is over to this node, for `leaseMs` milliseconds from now. Each lease goes to one node only.
   * @returns the ids of at most `max` tasks
   */
  takeLapsed(server: string, leaseMs: number, max: number): Promise<readonly string[]>;
  /** Ends leases. */
  release(server: string, ids: readonly string[]): Promise<void>;
}
