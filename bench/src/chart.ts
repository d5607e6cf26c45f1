import { nameOf } from './table.js';
import type { Row } from './workload.js';

const BAR = 16;
const GAP = 4;
const LEFT = 190;
const WIDTH = 460;
const COLOURS: Readonly<Record<string, string>> = {
  ours: '#e0234e',
  bare: '#8a94a6',
  sdk: '#3b7dd8',
  peer: '#d8933b',
};

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Bars of the requests a second of each contender, in one group for each workload. */
export function chartOf(rows: readonly Row[]): string {
  const shown = rows.filter(({ figure }) => figure === 'rps');
  const parts: string[] = [];
  let y = 0;
  for (const workload of new Set(shown.map(row => row.workload))) {
    const comparisons = shown.filter(row => row.workload === workload);
    const values = new Map(
      comparisons.flatMap(({ subject, value, baseline, baselineValue }) => [
        [subject, value] as const,
        [baseline, baselineValue] as const,
      ]),
    );
    const largest = Math.max(...values.values());
    parts.push(`<text class="head" x="0" y="${y + 24}">${escape(workload)}</text>`);
    y += 32;
    for (const [contender, value] of [...values].sort(([, a], [, b]) => b - a)) {
      const width = Math.round((value / largest) * WIDTH);
      const middle = y + BAR - 4;
      parts.push(
        `<text x="${LEFT - 8}" y="${middle}" text-anchor="end">${escape(nameOf(contender))}</text>`,
        `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR}" fill="${COLOURS[contender] ?? COLOURS['ours']}"/>`,
        `<text x="${LEFT + width + 6}" y="${middle}">${Math.round(value).toLocaleString('en')}</text>`,
      );
      y += BAR + GAP;
    }
  }
  const style = 'text{font:12px sans-serif;fill:#1c2330}.head{font-weight:bold}';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 70} ${y + 8}" role="img">`,
    '<title>Requests a second</title>',
    `<style>${style}</style>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
