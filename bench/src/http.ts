import { CALL } from './interceptors.js';
import { timeEach, toolCall } from './load.js';
import { median, type Effort } from './ratio.js';
import type { Line } from './report.js';
import { startServer } from './server-process.js';

/**
 * What ten local validators take off the throughput of `tools/call` over HTTP: at most 7 %. What ten that each read all
 * of the text take is mostly their own work, and is told without a bound.
 */
export async function benchHttp(effort: Effort): Promise<Line[]> {
  const fewer = { ...effort, rounds: Math.ceil(effort.rounds / 6) };
  return [
    await compareServers('10 validators', 'ruled', 1 / 0.93, effort),
    await compareServers('10 scans of all text', 'scanned', Infinity, fewer),
  ];
}

async function compareServers(
  name: string,
  kind: 'ruled' | 'scanned',
  bound: number,
  { rounds, roundMs }: Effort,
): Promise<Line> {
  const measured: { subject: number; baseline: number }[] = [];
  // One process can be slower than another of the same code for as long as it lives: each round has new ones.
  for (let round = 0; round < rounds; round++) {
    const servers = await Promise.all([kind, 'plain'].map(one => startServer('server.js', one)));
    const [subject, baseline] = servers.map(({ url }) =>
      toolCall(`${url}/mcp`, CALL, 'An order of Ada Lovelace'),
    );
    try {
      measured.push(await timeEach({ subject, baseline }, round, roundMs));
    } finally {
      for (const { stop } of servers) stop();
    }
  }
  return {
    name: `tools/call over HTTP behind ${name} / without`,
    bound,
    subjectUs: median(measured.map(({ subject }) => subject)),
    baselineUs: median(measured.map(({ baseline }) => baseline)),
    ratio: median(measured.map(({ subject, baseline }) => subject / baseline)),
  };
}
