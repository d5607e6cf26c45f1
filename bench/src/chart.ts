import { FIGURES, nameOf } from './table.js';
import type { Row } from './types.js';

const BAR = 16;
const GAP = 4;
const LEFT = 132;
const WIDTH = 240;
const COLOURS: Readonly<Record<string, string>> = {
  ours: '#e0234e',
  bare: '#8a94a6',
  sdk: '#3b7dd8',
  peer: '#d8933b',
};

/** The charts of `docs/`: for each file, its title and the figures that it draws. */
export const CHARTS: Readonly<Record<string, readonly [title: string, ...figures: Row['figure'][]]>> = {
  'performance.svg': ['Requests a second: a longer bar is better', 'rps'],
  'performance-latency.svg': ['Latency under load: a shorter bar is better', 'p99Ms'],
  'performance-memory.svg': ['Memory: a shorter bar is better', 'rssMb', 'heapMb'],
  'performance-time.svg': ['Time: a shorter bar is better', 'cpuUs', 'startUpMs'],
};

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Bars of each contender, in one group for each workload and figure. */
export function chartOf(rows: readonly Row[], title: string, figures: readonly Row['figure'][]): string {
  const parts: string[] = [];
  let y = 24;
  for (const figure of figures) {
    const { unit, digits } = FIGURES[figure];
    const shown = rows.filter(row => row.figure === figure);
    for (const workload of new Set(shown.map(row => row.workload))) {
      const values = new Map(
        shown
          .filter(row => row.workload === workload)
          .flatMap(({ subject, value, baseline, baselineValue }) => [
            [subject, value] as const,
            [baseline, baselineValue] as const,
          ]),
      );
      const largest = Math.max(...values.values());
      parts.push(`<text class="head" x="0" y="${y + 24}">${escape(workload)} (${unit})</text>`);
      y += 32;
      for (const [contender, value] of [...values].sort(([, a], [, b]) => b - a)) {
        const width = Math.round((value / largest) * WIDTH);
        const middle = y + BAR - 4;
        const written = value.toLocaleString('en', {
          minimumFractionDigits: digits,
          maximumFractionDigits: digits,
        });
        parts.push(
          `<text x="${LEFT - 8}" y="${middle}" text-anchor="end">${escape(nameOf(contender))}</text>`,
          `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR}" fill="${COLOURS[contender] ?? COLOURS['ours']}"/>`,
          `<text x="${LEFT + width + 6}" y="${middle}">${written}</text>`,
        );
        y += BAR + GAP;
      }
    }
  }
  const style = 'text{font:13px sans-serif;fill:#1c2330}.head{font-weight:bold}';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 70}" viewBox="0 0 ${LEFT + WIDTH + 70} ${y + 8}" role="img">`,
    `<title>${title}</title>`,
    `<style>${style}</style>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    `<text x="0" y="16">${title}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
