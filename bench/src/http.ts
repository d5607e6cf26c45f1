import autocannon from 'autocannon';
import { CALL } from './interceptors.js';
import { median, type Effort } from './ratio.js';
import type { Line } from './report.js';
import { startServer, type ServerProcess } from './server-process.js';

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': CALL.name,
};
const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    ...CALL,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

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

/** The best of several turns of each server: whatever else the machine does only makes a turn longer. */
async function oneRound(round: number, roundMs: number): Promise<Record<Kind, number>> {
  const servers = await Promise.all(KINDS.map(kind => startServer('server.js', kind)));
  const best = { plain: Infinity, ruled: Infinity, scanned: Infinity };
  try {
    for (const server of servers) await microseconds(server, roundMs);
    for (let turn = 0; turn < TURNS * KINDS.length; turn++) {
      // Who goes first changes, so that none always has the warmer machine.
      const index = (turn + round + Math.floor(turn / KINDS.length)) % KINDS.length;
      const kind = KINDS[index];
      best[kind] = Math.min(best[kind], await microseconds(servers[index], roundMs / 2));
    }
  } finally {
    for (const { stop } of servers) stop();
  }
  return best;
}

const TURNS = 6;

/** Time per call at full load: the inverse of the throughput. */
async function microseconds({ url }: ServerProcess, ms: number): Promise<number> {
  const result = await autocannon({
    url: `${url}/mcp`,
    method: 'POST',
    headers: HEADERS,
    body: BODY,
    connections: 10,
    duration: ms / 1000,
    verifyBody: body => String(body).includes('An order of Ada Lovelace'),
  });
  if (result.errors + result.non2xx + result.mismatches > 0 || result['2xx'] === 0) {
    throw new Error(`Not every call was answered: ${JSON.stringify(result)}`);
  }
  return (result.duration * 1e6) / result['2xx'];
}
