import type { Comparison } from './ratio.js';

/** One figure, and what it may be at most. */
export interface Line extends Comparison {
  readonly name: string;
  readonly bound: number;
}

const columns = (name: string, ...cells: string[]) =>
  `${name.padEnd(58)}${cells.map(cell => cell.padStart(11)).join('')}`;

/** Prints the lines; returns those above their bounds. */
export function report(lines: readonly Line[]): Line[] {
  console.log(columns('', 'µs', 'baseline', 'ratio', 'at most'));
  for (const { name, subjectUs, baselineUs, ratio, bound } of lines) {
    const mark = ratio > bound ? '  <- too much' : '';
    console.log(
      columns(
        name,
        subjectUs.toFixed(2),
        baselineUs.toFixed(2),
        ratio.toFixed(3),
        bound === Infinity ? '-' : bound.toFixed(3),
      ) + mark,
    );
  }
  return lines.filter(({ ratio, bound }) => ratio > bound);
}
