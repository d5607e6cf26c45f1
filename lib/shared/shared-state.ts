import type { InjectionToken } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { MrtrStore } from '../mrtr/state/mrtr-store.js';
import type { MessageBus } from './message-bus.js';

/** Token of what the nodes of an application share, if it imports a module for that. */
export const SHARED: InjectionToken = 'nestjs-mcp:shared';

export interface LimiterOptions {
  /** Keeps the counters of several limiters apart. */
  readonly name: string;
  readonly points: number;
  /** Seconds. */
  readonly duration: number;
  /** Seconds. */
  readonly blockDuration?: number;
}

/** What all nodes of an application share. Options of a server or an interceptor win over it. */
export interface SharedState {
  readonly bus: MessageBus;
  readonly store: MrtrStore;
  limiter(options: LimiterOptions): Pick<RateLimiterAbstract, 'consume'>;
}
