import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { read, ROOT } from './docs-pages.js';

interface Chart {
  readonly CHARTS: Readonly<Record<string, readonly [title: string, ...figures: string[]]>>;
  chartOf(rows: readonly unknown[], title: string, figures: readonly string[]): string;
}

interface Row {
  readonly workload: string;
  readonly figure: string;
  readonly baseline: string;
  readonly value: number;
  readonly baselineValue: number;
  readonly ratio: number;
}

const { rows } = JSON.parse(read('docs/performance.json')) as { rows: Row[] };
// The benchmark is a project of its own.
// eslint-disable-next-line @typescript-eslint/no-require-imports
const { CHARTS, chartOf } = require(join(ROOT, 'bench/src/chart.ts')) as Chart;

it.each(Object.entries(CHARTS))('docs/%s draws the measured figures', (file, [title, ...figures]) => {
  const chart = chartOf(rows, title, figures);
  if (process.env.UPDATE_DOCS) writeFileSync(join(ROOT, 'docs', file), chart);
  expect(read(`docs/${file}`)).toBe(chart);
});

it('each measured figure is drawn', () => {
  const drawn = Object.values(CHARTS).flatMap(([, ...figures]) => figures);
  expect([...new Set(rows.map(({ figure }) => figure))].filter(figure => !drawn.includes(figure))).toEqual(
    [],
  );
});

it.each(Object.keys(CHARTS))('the page shows %s', file => {
  expect(read('docs/performance.md')).toContain(`](${file})`);
});

it('the comparison has the measured figures', () => {
  const of = (name: string, platform = 'express') => {
    const found = ['bare', 'peer', 'sdk'].map(baseline =>
      rows.find(
        row => row.workload === `${name}, ${platform}` && row.figure === 'rps' && row.baseline === baseline,
      ),
    );
    return found as [Row, Row, Row];
  };
  const written = (value: number) => Math.round(value).toLocaleString('en');
  const cells = ([bare, peer, sdk]: [Row, Row, Row]) =>
    `${written(bare.value)} | ${written(peer.baselineValue)} | not measured | ${written(sdk.baselineValue)} |`;
  const ratios = ([bare, peer]: [Row, Row, Row]) => [bare.ratio.toFixed(2), peer.ratio.toFixed(2)] as const;
  const call = of('tools/call');
  const session = of('call in a 2025 session');
  const [bare, peer] = ratios(call);
  const [bareFastify, peerFastify] = ratios(of('tools/call', 'fastify'));
  const page = read('docs/compare.md').replace(/\s+/g, ' ');
  expect(page).toContain(`| Requests a second, 2026-07-28 | ${cells(call)}`);
  expect(page).toContain(`| Requests a second, 2025 session | ${cells(session)}`);
  expect(page).toContain(`${bare} of the throughput of a bare Nest route, and ${peer} times that of`);
  expect(page).toContain(`In a 2025 session, it reaches ${ratios(session).join(' and ')}.`);
  const landing = read('docs/index.md');
  for (const figure of [`${peer} ×`, bare, `${peerFastify} ×`, bareFastify]) {
    expect(landing).toContain(`<strong>${figure}</strong>`);
  }
  expect(page).toContain(`reaches ${bareFastify} of the bare route, and ${peerFastify} times`);
});
