import type { Memory, Setup } from './contenders/setup.js';
import type { Throughput } from './load.js';
import type { Call } from './requests.js';

/** A server, and what it is asked. */
export interface Contender {
  readonly program: 'bare' | 'ours' | 'sdk' | 'peer';
  readonly setup: Setup;
  readonly call: Call;
  /** Makes the call from the answer to `call`, as a client does that continues with a round. */
  readonly next?: (answer: string) => Call;
}

/** Figures of a contender: medians of the passes, and its memory after the last. */
export interface Measured extends Omit<Throughput, 'count'>, Memory {
  /** CPU time of the server process for one request (user and system), in microseconds. */
  readonly cpuUs: number;
}

/** Contenders that are measured in turns, and how they are compared. */
export interface Workload {
  readonly name: string;
  readonly contenders: Readonly<Record<string, Contender>>;
  readonly comparisons: readonly Comparison[];
  /** Whether it is left out if there is no `redis-server`. */
  readonly needsRedis?: boolean;
  /** Whether `--quick` has it. */
  readonly quick?: boolean;
}

/** A figure of one contender over the same figure of another. */
export interface Comparison {
  readonly figure: keyof Measured;
  readonly subject: string;
  readonly baseline: string;
  readonly bound?: Bound;
  /** A ratio to reach. */
  readonly aim?: number;
}

export interface Bound {
  /** The ratio must be at least, or at most, this. */
  readonly least?: number;
  readonly most?: number;
  /** Also enough: the figure is larger by no more than this. */
  readonly orMore?: number;
}

/** A comparison with its outcome: what is printed, and written as JSON. */
export interface Row extends Omit<Comparison, 'figure'> {
  readonly figure: Comparison['figure'] | 'startUpMs';
  readonly workload: string;
  readonly value: number;
  readonly baselineValue: number;
  readonly ratio: number;
  readonly isMet: boolean;
}
