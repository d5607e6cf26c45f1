import type { Row } from './types.js';

/** How a figure is written. */
export const FIGURES: Readonly<Record<Row['figure'], { readonly unit: string; readonly digits: number }>> = {
  rps: { unit: 'requests/s', digits: 0 },
  cpuUs: { unit: 'µs CPU', digits: 1 },
  p99Ms: { unit: 'ms p99', digits: 1 },
  rssMb: { unit: 'MB RSS', digits: 0 },
  heapMb: { unit: 'MB heap', digits: 1 },
  startUpMs: { unit: 'ms', digits: 0 },
};

/** Names of contenders, as readers know them. */
const CONTENDERS: Readonly<Record<string, string>> = {
  bare: 'bare Nest',
  ours: 'nestjs-mcp',
  sdk: 'SDK on node:http',
  peer: '@rekog/mcp-nest',
};
export const nameOf = (contender: string): string => CONTENDERS[contender] ?? contender;

/** Contenders of the field that no registry has here. */
const NOT_INSTALLABLE = ['@nestjs/mcp'];

export const HEADINGS = ['Workload', 'Figure', 'Measured', 'Compared with', 'Ratio', 'Bound', 'Aim', 'Met'];

/** The table's cells, without its headings. */
export function cellsOf(rows: readonly Row[]): string[][] {
  const written = rows.map(row => {
    const { unit, digits } = FIGURES[row.figure];
    const format = (value: number) =>
      value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return [
      row.workload,
      unit,
      `${nameOf(row.subject)} ${format(row.value)}`,
      `${nameOf(row.baseline)} ${format(row.baselineValue)}`,
      row.ratio.toFixed(2),
      boundOf(row),
      row.aim?.toFixed(2) ?? '',
      isBounded(row) ? (row.isMet ? 'yes' : 'NO') : '',
    ];
  });
  return [
    ...written,
    ...NOT_INSTALLABLE.map(name => ['tools/call', '', '', `${name}: not installable`, '', '', '', '']),
  ];
}

function boundOf({ bound: { least, most, orMore } = {}, figure }: Row): string {
  const parts = [
    least !== undefined && `≥ ${least.toFixed(2)}`,
    most && `≤ ${most.toFixed(2)}`,
    orMore !== undefined && `≤ +${orMore} ${FIGURES[figure].unit.split(' ')[0]}`,
  ];
  return parts.filter(Boolean).join(' or ');
}

const isBounded = ({ bound: { least, most, orMore } = {} }: Row) =>
  least !== undefined || most !== undefined || orMore !== undefined;

export function printTable(rows: readonly Row[]): void {
  const lines = [HEADINGS, ...cellsOf(rows)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map(line => line[column].length)));
  for (const line of lines) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
  }
}
