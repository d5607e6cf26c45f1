import type { Setup } from './contenders/setup.js';
import type { Measured } from './measure.js';
import type { Call } from './requests.js';

/** A server, and what it is asked. */
export interface Contender {
  readonly program: 'bare' | 'ours' | 'sdk' | 'peer';
  readonly setup: Setup;
  readonly call: Call;
  /** Takes the call from the answer to its `call`, as a client does that goes on with a round. */
  readonly next?: (answer: string) => Call;
}

export type Running = Contender & { readonly url: string };

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
  /** What is hoped for, a ratio. */
  readonly aim?: number;
}

export interface Bound {
  /** The ratio is to be this at least, or at most. */
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

/** The workload without one of its contenders. */
export const without = (gone: string, { contenders, comparisons, ...rest }: Workload): Workload => ({
  ...rest,
  contenders: Object.fromEntries(Object.entries(contenders).filter(([name]) => name !== gone)),
  comparisons: comparisons.filter(({ baseline }) => baseline !== gone),
});

export function rowOf(workload: string, comparison: Comparison, measured: Record<string, Measured>): Row {
  const { figure, subject, baseline, bound = {} } = comparison;
  const value = measured[subject][figure];
  const baselineValue = measured[baseline][figure];
  const ratio = value / baselineValue;
  const isEnough = ratio >= (bound.least ?? 0) && ratio <= (bound.most ?? Infinity);
  const isMet = isEnough || value - baselineValue <= (bound.orMore ?? -Infinity);
  return { ...comparison, workload, value, baselineValue, ratio, isMet };
}
