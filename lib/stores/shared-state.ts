import type { InjectionToken } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { CallerCounts, CountedLimit } from '../protocol/caller-limit.js';
import type { MrtrStore } from './mrtr-store.js';
import type { EventStore } from './event-store.js';
import type { MessageBus } from './message-bus.js';
import type { SessionStore } from './session-store.js';
import type { TaskStore } from './task-store.js';

/** Token of the `SharedState` of an application. A module such as `McpRedisModule` provides it. */
export const SHARED: InjectionToken = 'nestjs-mcp:shared';

export interface LimiterOptions {
  /** Separates the counters of several limiters. */
  readonly name: string;
  readonly points: number;
  /** Seconds. */
  readonly duration: number;
  /** Seconds. */
  readonly blockDuration?: number;
}

/**
 * The stores and the bus that all nodes of an application share. Options of a server or an interceptor override them.
 */
export interface SharedState {
  readonly bus: MessageBus;
  readonly store: MrtrStore;
  readonly sessions: SessionStore;
  readonly events: EventStore;
  readonly tasks: TaskStore;
  /** @throws Error if the shared store does not answer */
  ping(): Promise<void>;
  /** Counts the callers of a limit on all nodes. Without it, each node counts alone. */
  counts?(limit: CountedLimit): CallerCounts;
  limiter(options: LimiterOptions): Pick<RateLimiterAbstract, 'consume'>;
}
