import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../util/message-of.js';
import type { Abortion, McpCall, Params } from './mcp-call.js';

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

/** The end of a request: a result, an error, or an abortion before either. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown; readonly aborted?: Abortion };

/** One observed request, from start to end. */
export interface Observation {
  /** Runs work of the request, such as its handler, in the context of the request. */
  run<T>(work: () => T): T;
  /** The params to send, with the trace context if it exists. */
  outgoing<P extends object | undefined>(params: P): P;
  /** Ends the observation. Only the first end counts. */
  end(outcome: Outcome): void;
}

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
  /** Called when a 2025-era session, a stdio connection or a client's connection has ended. */
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

/** Observes one place. It is undefined without listeners, so that a request pays only for one check. */
export interface Observer {
  begin(request: TrafficRequest): Observation;
  disconnected(connection: EndedConnection): void;
  /** Undefined if no listener observes tasks. */
  task(call: TaskCall): TaskObserving | undefined;
  endTask(task: EndedTask): void;
}

/** The listeners of a server, or of the clients of the application. They are added before the servers start. */
@Injectable()
export class Traffic {
  private readonly listeners: TrafficListener[] = [];

  /** Undefined without listeners. */
  static of(listeners: readonly TrafficListener[]): Traffic | undefined {
    if (listeners.length === 0) return undefined;
    const traffic = new Traffic();
    for (const listener of listeners) traffic.add(listener);
    return traffic;
  }

  add(listener: TrafficListener): void {
    this.listeners.push(listener);
  }

  at(point: TrafficPoint): Observer | undefined {
    const { listeners } = this;
    if (listeners.length === 0) return undefined;
    return {
      begin: request => new ObservedRequest(listeners, request, point),
      disconnected: connection => {
        for (const listener of listeners) attempt(() => listener.disconnected?.(connection, point));
      },
      task: call => tasksOf(listeners.flatMap(one => attempt(() => one.task?.(call, point)) ?? [])),
      endTask: task => {
        for (const listener of listeners) attempt(() => listener.endTask?.(task, point));
      },
    };
  }

  /** Undefined if no listener observes interceptors. */
  get turns(): ObserveTurn | undefined {
    return jointly(this.listeners.flatMap(({ turn }) => turn ?? []));
  }

  endRounds(count: number): void {
    for (const listener of this.listeners) attempt(() => listener.endRounds?.(count));
  }

  mark(): string | undefined {
    for (const listener of this.listeners) {
      const mark = listener.mark?.();
      if (mark !== undefined) return mark;
    }
    return undefined;
  }

  follow(mark: string): void {
    for (const listener of this.listeners) attempt(() => listener.follow?.(mark));
  }
}

/** The observations of one call, as one. A failure of an observation does not reach the task. */
function tasksOf(parts: readonly TaskObserving[]): TaskObserving | undefined {
  if (parts.length === 0) return undefined;
  return {
    run: work => parts.reduceRight((inner, part) => () => part.run(inner), work)(),
    begin: (...task) => parts.forEach(part => attempt(() => part.begin(...task))),
    ask: method => {
      const ends = parts.flatMap(part => attempt(() => part.ask(method)) ?? []);
      return outcome => ends.forEach(end => attempt(() => end(outcome)));
    },
    end: (...ending) => parts.forEach(part => attempt(() => part.end(...ending))),
  };
}

/** A single listener is asked as it is. */
function jointly(observers: readonly ObserveTurn[]): ObserveTurn | undefined {
  if (observers.length < 2) return observers[0];
  return (turn, message) => {
    const parts = observers.flatMap(observe => observe(turn, message) ?? []);
    if (parts.length < 2) return parts[0];
    return {
      run: work => parts.reduceRight((inner, part) => () => part.run(inner), work)(),
      end: result => {
        for (const part of parts) part.end(result);
      },
    };
  };
}

class ObservedRequest implements Observation {
  private readonly parts: Observing[] = [];
  private readonly started = performance.now();
  private isOver = false;

  constructor(listeners: readonly TrafficListener[], request: TrafficRequest, point: TrafficPoint) {
    for (const listener of listeners) {
      try {
        const part = listener.begin(request, point);
        if (part) this.parts.push(part);
      } catch (error) {
        warnOf(error);
      }
    }
  }

  run<T>(work: () => T): T {
    if (!this.parts.some(isRunning)) return work();
    return this.parts.reduceRight((inner, part) => (part.run ? () => part.run!(inner) : inner), work)();
  }

  outgoing<P extends object | undefined>(params: P): P {
    const { _meta } = (params ?? {}) as { _meta?: Params };
    const meta = { ..._meta };
    for (const part of this.parts) attempt(() => part.inject?.(meta));
    return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
  }

  end(outcome: Outcome): void {
    if (this.isOver) return;
    this.isOver = true;
    const durationMs = performance.now() - this.started;
    for (const part of this.parts) {
      try {
        part.end(outcome, durationMs);
      } catch (error) {
        warnOf(error);
      }
    }
  }
}

let hasWarned = false;

/**
 * A request must not fail because it is observed: exporters and samplers are the application's.
 * @returns undefined if the work failed
 */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    warnOf(error);
    return undefined;
  }
}

function warnOf(error: unknown): void {
  if (hasWarned) return;
  hasWarned = true;
  new Logger('McpModule').warn(
    `Telemetry of a request failed, so its span or metric may be missing: ${messageOf(error)}. Later failures are not logged`,
  );
}

const isRunning = ({ run }: Observing): boolean => run !== undefined;
