import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { chartOf, CHARTS } from './chart.js';
import { isPinned } from './pinned.js';
import { cellsOf, HEADINGS } from './table.js';
import type { Row } from './types.js';

const bench = join(import.meta.dirname, '..');
const docs = join(bench, '../docs');

const conditions = () => ({
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  cpu: cpus()[0].model.trim(),
  cores: cpus().length,
  pinned: isPinned,
});

const toJson = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Keeps what was measured beside earlier runs. */
export function writeResults(rows: readonly Row[]): void {
  const folder = join(bench, 'results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${new Date().toISOString().replaceAll(':', '-')}.json`);
  writeFileSync(file, toJson({ ...conditions(), rows }));
  console.log(`\nWritten to ${file}`);
}

const START = '<!-- bench: start -->';
const END = '<!-- bench: end -->';

/** Writes the figures, their charts, and the table between the marks of `performance.md`. */
export async function writeDocs(rows: readonly Row[]): Promise<void> {
  const { date, node, cpu, cores, pinned } = conditions();
  await writeFormatted(join(docs, 'performance.json'), toJson({ ...conditions(), rows }));
  for (const [file, [title, ...figures]] of Object.entries(CHARTS))
    writeFileSync(join(docs, file), chartOf(rows, title, figures));

  const page = join(docs, 'performance.md');
  const [before, rest] = readFileSync(page, 'utf8').split(START);
  const [, after] = rest.split(END);
  const where = pinned ? 'server and load on a core each' : 'server and load on the same cores';
  // The charts show the throughput, which is the inverse of the CPU time.
  const shown = rows.filter(({ figure }) => figure !== 'rps');
  const table = [HEADINGS, HEADINGS.map(() => '---'), ...cellsOf(shown)];
  const section = [
    START,
    '',
    `Measured on ${date} with Node ${node} on ${cores} cores of ${cpu}, ${where}.`,
    '',
    ...table.map(cells => `| ${cells.join(' | ')} |`),
    '',
    END,
  ];
  await writeFormatted(page, before + section.join('\n') + after);
}

async function writeFormatted(file: string, text: string): Promise<void> {
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}
