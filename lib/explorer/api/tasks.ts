import type { TaskState } from './call.js';

export interface TasksRequest {
  readonly server: string;
}

export interface Tasks {
  /**
   * The latest tasks of all callers that this node has created or runs, the latest first; at most 100. Absent if no extension
   * of the server has tasks.
   */
  readonly tasks?: readonly TaskRow[];
  /** The number of further ones. */
  readonly more: number;
}

/** A task without its arguments, elicitations and result: only its caller reads those, by `tasks/get`. */
export interface TaskRow extends Pick<
  TaskState,
  'id' | 'status' | 'statusMessage' | 'createdAt' | 'lastUpdatedAt'
> {
  /** The principal of its caller. */
  readonly caller: string;
  readonly tool: string;
  readonly ttlMs: number;
  /** The number of elicitations that wait for an answer. */
  readonly inputRequests: number;
}

/** Cancels a task of any caller. */
export interface CancelRequest {
  readonly server: string;
  readonly id: string;
}
