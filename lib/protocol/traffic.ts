import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../util/message-of.js';
import type { Params } from './mcp-call.js';
import type { Observation, Outcome } from './observation.js';
import type {
  EndedConnection,
  EndedTask,
  Observing,
  ObserveTurn,
  TaskCall,
  TaskObserving,
  TrafficListener,
  TrafficPoint,
  TrafficRequest,
} from './traffic-listener.js';

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
