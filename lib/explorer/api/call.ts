import type { Caller } from './callers.js';
import type { Json } from './shared.js';

/** A round of a call. */
export interface CallRequest {
  readonly server: string;
  readonly caller: Exclude<Caller, { kind: 'synthetic' }>;
  /** `tools/call`, `prompts/get`, `resources/read`, or a method of an extension. */
  readonly method: string;
  /** `{ name, arguments }`, `{ uri }`, or the params of a method. */
  readonly params: Json;
  /** One of the server's `revisions`. Default: the newest. A call of revision 2025-11-25 or earlier has a session of its own. */
  readonly revision?: string;
  /** Responses to the input requests of the round before, by their keys. */
  readonly inputResponses?: Json;
  /** `requestState` of the round before. */
  readonly requestState?: string;
  /** True after the user confirmed it. A tool without `readOnlyHint`, or a method of an extension, is refused with status 409 otherwise. */
  readonly confirmed?: boolean;
}

/** A value that may be too long to show. */
export interface Shown {
  /** The value, if it is short enough. */
  readonly value?: unknown;
  /** The beginning of its JSON, if it is not. */
  readonly preview?: string;
  /** Characters of its JSON. */
  readonly size: number;
}

export interface CallTrace {
  /**
   * `asked`: answer the `inputRequests` in another round. `task`: the call has become a task, or `tasks/get` has read one;
   * `inputRequests`, `result` and `error` are those of the task.
   */
  readonly outcome: 'result' | 'error' | 'asked' | 'task';
  readonly status: number;
  readonly result?: Shown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Shown };
  readonly task?: TaskState;
  readonly inputRequests: readonly InputRequest[];
  readonly requestState?: string;
  /** The interceptors that ran, in starting order: for the request, the input requests and the response. */
  readonly chain: readonly ChainRun[];
  /** The sinks that ran, in starting order. */
  readonly sinks: readonly TraceSink[];
  readonly progress: readonly ShownProgress[];
  /** Log messages that the handler sent to its client. */
  readonly logs: readonly ShownLog[];
  /** W3C trace id, 32 hexadecimal digits. The call has it as `traceparent`. */
  readonly traceId: string;
  readonly durationMs: number;
}

export interface ShownProgress {
  readonly atMs: number;
  readonly text: string;
  /** From 0 to 1. */
  readonly share?: number;
}

export interface ShownLog {
  readonly atMs: number;
  readonly level: string;
  readonly text: string;
}

export interface TraceSink {
  readonly id: string;
  readonly event: string;
  readonly phase: 'request' | 'response';
  /** `recorded`, `skipped`, `crash` or `timeout`; `running` if it still runs. */
  readonly outcome: string;
  readonly durationMs?: number;
}

/**
 * A line of the answer to `api/call` for a request with `accept: application/x-ndjson`: what the server sends while the
 * call runs, and at last its trace, or the reason why there is none. `inputRequest`: a session of revision 2025-11-25 or
 * earlier waits for an answer by `api/answer`.
 */
export type CallEvent =
  | { readonly type: 'progress'; readonly progress: ShownProgress }
  | { readonly type: 'log'; readonly log: ShownLog }
  | { readonly type: 'inputRequest'; readonly call: string; readonly inputRequest: InputRequest }
  | { readonly type: 'trace'; readonly trace: CallTrace }
  | { readonly type: 'failed'; readonly error: string };

/** Answers an `inputRequest` of a call that runs. */
export interface AnswerRequest {
  readonly call: string;
  /** The `key` of the input request. */
  readonly key: string;
  readonly result: Json;
}

/** A task, as its caller reads it. */
export interface TaskState {
  readonly id: string;
  readonly status: string;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** Milliseconds from `createdAt`. Absent for a task without an end. */
  readonly ttlMs?: number;
  readonly pollIntervalMs?: number;
}

export interface InputRequest {
  readonly key: string;
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  /** For a form: `{ message, requestedSchema }`; for a page to visit: `{ mode: 'url', message, url }`. */
  readonly params: Json;
}

export interface ChainRun {
  readonly event: string;
  readonly phase: 'request' | 'response';
  readonly direction: 'send' | 'receive';
  readonly status: 'success' | 'validation_failed' | 'mutation_failed' | 'timeout';
  readonly turns: readonly TraceTurn[];
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  readonly durationMs: number;
}

export interface TraceTurn {
  readonly id: string;
  readonly type: 'validation' | 'mutation';
  readonly mode: 'active' | 'audit';
  /** As in `Counters.outcomes`. */
  readonly outcome: string;
  readonly isFinal: boolean;
  /** The verdict of a validator. */
  readonly messages: readonly {
    readonly path?: string;
    readonly message: string;
    readonly severity: string;
  }[];
  /** Why it failed, or why its change was dropped. The message of an error is in the log of the application only. */
  readonly error?: string;
  /** The payload before and after a mutator that changed it, or would have. */
  readonly before?: Shown;
  readonly after?: Shown;
  readonly durationMs: number;
}

/** Reads a view (SEP-1865). */
export interface ViewRequest {
  readonly server: string;
  readonly caller: Exclude<Caller, { kind: 'synthetic' }>;
  /** As in `CallRequest`. */
  readonly revision?: string;
  readonly uri: string;
}

export interface AppView {
  /** Whole, whatever its length. */
  readonly html: string;
  /** `_meta.ui.csp` of the content. */
  readonly csp: Json;
}
