import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../util/message-of.js';
import type { McpCall, Params } from './mcp-call.js';

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
  /** Whether a tool or prompt has this name; undefined if this place does not know its names. */
  isKnown?(kind: 'tool' | 'prompt', name: string): boolean;
}

/** The reason why a request ended without its answer. */
export type Abortion = 'cancelled' | 'timeout' | 'shutdown';

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

export type ObserveTurn = (
  turn: Turn,
  message: { readonly event: string; readonly phase: string },
) => TurnObserving | undefined;

/** One listener's observation of one run of an interceptor. */
export interface TurnObserving {
  run<T>(work: () => T): T;
  /** @param result undefined if the interceptor did not apply */
  end(result: { readonly outcome: string } | undefined): void;
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
}

/** Observes one place. It is undefined without listeners, so that a request pays only for one check. */
export interface Observer {
  begin(request: TrafficRequest): Observation;
  disconnected(connection: EndedConnection): void;
}

/** The registry for modules that observe requests (telemetry, the explorer). They register before the servers start. */
@Injectable()
export class Traffic {
  private readonly listeners: TrafficListener[] = [];

  add(listener: TrafficListener): void {
    this.listeners.push(listener);
  }

  get isObserved(): boolean {
    return this.listeners.length > 0;
  }

  at(point: TrafficPoint): Observer | undefined {
    const { listeners } = this;
    if (listeners.length === 0) return undefined;
    return {
      begin: request => new ObservedRequest(listeners, request, point),
      disconnected: connection => {
        for (const listener of listeners) attempt(() => listener.disconnected?.(connection, point));
      },
    };
  }

  /** Undefined if no listener observes interceptors. */
  get turns(): ObserveTurn | undefined {
    return this.listeners.map(({ turn }) => turn).find(turn => turn !== undefined);
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

class ObservedRequest implements Observation {
  private readonly parts: Observing[] = [];
  private readonly started = performance.now();
  private isOver = false;

  constructor(listeners: readonly TrafficListener[], request: TrafficRequest, point: TrafficPoint) {
    for (const listener of listeners) {
      attempt(() => {
        const part = listener.begin(request, point);
        if (part) this.parts.push(part);
      });
    }
  }

  run<T>(work: () => T): T {
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
    for (const part of this.parts) attempt(() => part.end(outcome, durationMs));
  }
}

let hasWarned = false;

/** Observing must not fail a request, because exporters and samplers belong to the application. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (hasWarned) return;
    hasWarned = true;
    new Logger('McpModule').warn(
      `Telemetry of a request failed, so its span or metric may be missing: ${messageOf(error)}. Later failures are not logged`,
    );
  }
}
