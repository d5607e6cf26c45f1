import type { McpCall } from './mcp-call.js';
import type { Outcome } from './observation.js';

/** A request that is observed. For an incoming request, it is the `McpCall` itself. */
export type TrafficRequest = Pick<McpCall, 'method'> &
  Partial<
    Pick<
      McpCall,
      | 'requestId'
      | 'params'
      | 'meta'
      | 'era'
      | 'protocolVersion'
      | 'sessionId'
      | 'http'
      | 'authInfo'
      | 'requestState'
    >
  >;

/** A place where requests are observed. It is created once, before the first request. */
export interface TrafficPoint {
  /** `server` for incoming requests, `client` for outgoing requests. */
  readonly side: 'server' | 'client';
  /** Name of the server, or of the connection to one. */
  readonly name: string;
  /** The URL of a client's requests, if they use HTTP. */
  readonly url?: string;
  /** Whether a client of the application answers here, and not a server. */
  readonly isClient?: boolean;
  /** Whether requests go out without the trace context. */
  readonly isUntraced?: boolean;
  /** Whether an extension answers a method that the protocol does not have. */
  isOwnMethod?(method: string): boolean;
  /** Whether there is a tool or prompt of this name; undefined if that is not known here. */
  isKnown?(kind: NamedKind, name: string): boolean;
  /** Whether another server has listed a tool or prompt of this name; it may exist although it was not listed yet. */
  isListed?(kind: NamedKind, name: string): boolean;
}

export type NamedKind = 'tool' | 'prompt';

/** One listener's observation of one request. */
export interface Observing {
  readonly run?: <T>(work: () => T) => T;
  /** Adds fields to the `_meta` of an outgoing request. */
  readonly inject?: (meta: Record<string, unknown>) => void;
  end(outcome: Outcome, durationMs: number): void;
}

/** A closed connection. */
export interface EndedConnection {
  readonly durationMs: number;
  readonly protocolVersion?: string;
  /** Whether the connection used HTTP. */
  readonly isHttp: boolean;
}

/** One run of an interceptor. */
export interface Turn {
  readonly name: string;
  readonly host: string;
  readonly type: string;
  readonly mode: string;
}

/** A message of the chain. All turns of a run get the same object, with the payload as the chain received it. */
export interface TurnMessage {
  readonly event: string;
  readonly phase: string;
  readonly payload: unknown;
}

export type ObserveTurn = (turn: Turn, message: TurnMessage) => TurnObserving | undefined;

/** How a turn ended. */
export interface EndedTurn {
  readonly outcome: string;
  readonly durationMs: number;
  /** Whether it failed, and the message went on nevertheless. */
  readonly failedOpen?: boolean;
}

/** One listener's observation of one run of an interceptor. */
export interface TurnObserving {
  run<T>(work: () => T): T;
  /** @param result undefined if the interceptor did not apply */
  end(result: EndedTurn | undefined): void;
}

/** A call that may become a task, or a run of a task whose call has been answered in another process. */
export interface TaskCall {
  readonly tool: string;
  /** The mark of the call that created the task, empty if it is unknown. Undefined if that call is the current request. */
  readonly mark?: string;
}

/** One listener's observation of a call that may become a task. */
export interface TaskObserving {
  /** Runs the call. Once the task has begun, what the call does belongs to the task. */
  run<T>(work: () => T): T;
  /** The task has begun. Without this, all other functions but `run` do nothing. @param run increases with each run */
  begin(id: string, run: number): void;
  /** The task asks its client. @returns a function for the outcome */
  ask(method: string): (outcome: Outcome) => void;
  /** The run has ended. Only the first end counts. @param status undefined if the run has not ended the task */
  end(outcome: Outcome, status: string | undefined): void;
}

/** A task that has reached its final status. */
export interface EndedTask {
  readonly tool: string;
  readonly status: string;
  readonly durationMs: number;
}

/** Observes the requests of an application. It must not keep the objects that it receives. */
export interface TrafficListener {
  begin(request: TrafficRequest, point: TrafficPoint): Observing | undefined;
  /** Called when a session, a stdio connection or a client's connection has ended. */
  disconnected?(connection: EndedConnection, point: TrafficPoint): void;
  /** Called before a validator or mutator runs. */
  readonly turn?: ObserveTurn;
  /** Called when a call with several rounds has ended. `count` is above 1. */
  endRounds?(count: number): void;
  /** Returns the trace position of the current request, for a later round of the same call. */
  mark?(): string | undefined;
  /** Links the current request to the earlier request that had this mark. */
  follow?(mark: string): void;
  /** Called in each process that runs a call that may become a task. */
  task?(call: TaskCall, point: TrafficPoint): TaskObserving | undefined;
  /** Called once for each task, in the process that writes its final status. */
  endTask?(task: EndedTask, point: TrafficPoint): void;
}
