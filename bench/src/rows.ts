import type { Comparison, Measured, Row } from './types.js';

type Compared = Omit<Comparison, 'figure'> & Pick<Row, 'figure' | 'workload' | 'value' | 'baselineValue'>;

/** Of CPU time, less is better: its ratio is that of the speeds. */
export function judged(compared: Compared): Row {
  const { figure, value, baselineValue, bound = {} } = compared;
  const ratio = figure === 'cpuUs' ? baselineValue / value : value / baselineValue;
  const isEnough = ratio >= (bound.least ?? 0) && ratio <= (bound.most ?? Infinity);
  return { ...compared, ratio, isMet: isEnough || value - baselineValue <= (bound.orMore ?? -Infinity) };
}

export function rowOf(workload: string, comparison: Comparison, measured: Record<string, Measured>): Row {
  const { figure, subject, baseline } = comparison;
  return judged({
    ...comparison,
    workload,
    value: measured[subject][figure],
    baselineValue: measured[baseline][figure],
  });
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
