import { CALL } from './interceptors.js';
import { bestOf, toolCall } from './load.js';
import { median, type Effort } from './ratio.js';
import type { Line } from './report.js';
import { startServer } from './server-process.js';

const KINDS = ['plain', 'ruled', 'scanned'] as const;
type Kind = (typeof KINDS)[number];

/**
 * What ten local validators take off the throughput of `tools/call` over HTTP: at most 7 %. What ten that each read all
 * of the text take is mostly their own work, and is told without a bound.
 */
export async function benchHttp({ rounds, roundMs }: Effort): Promise<Line[]> {
  const measured: Record<Kind, number>[] = [];
  // One process can be slower than another of the same code for as long as it lives: each round has new ones.
  for (let round = 0; round < rounds; round++) measured.push(await oneRound(round, roundMs));
  const all = (kind: Kind) => measured.map(times => times[kind]);
  const line = (name: string, kind: Kind, bound: number): Line => ({
    name: `tools/call over HTTP behind ${name} / without`,
    bound,
    subjectUs: median(all(kind)),
    baselineUs: median(all('plain')),
    ratio: median(measured.map(times => times[kind] / times.plain)),
  });
  return [line('10 validators', 'ruled', 1 / 0.93), line('10 scans of all text', 'scanned', Infinity)];
}

async function oneRound(round: number, roundMs: number): Promise<Record<Kind, number>> {
  const servers = await Promise.all(KINDS.map(kind => startServer('server.js', kind)));
  try {
    const [plain, ruled, scanned] = servers.map(({ url }) =>
      toolCall(`${url}/mcp`, CALL, 'An order of Ada Lovelace'),
    );
    return await bestOf({ plain, ruled, scanned }, round, roundMs);
  } finally {
    for (const { stop } of servers) stop();
  }
}
