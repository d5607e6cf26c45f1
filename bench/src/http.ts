import autocannon from 'autocannon';
import { CALL } from './interceptors.js';
import { median, type Effort } from './ratio.js';
import type { Line } from './report.js';
import { startServer } from './server-process.js';

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

/**
 * What ten local validators take off the throughput of `tools/call` over HTTP: at most 7 %. What ten that each read all
 * of the text take is mostly their own work, and is told without a bound.
 */
export async function benchHttp(effort: Effort): Promise<Line[]> {
  const { url, stop } = await startServer('server.js');
  try {
    const targets = ['plain', 'ruled', 'scanned'] as const;
    for (const target of targets) await microseconds(`${url}/${target}`, effort.roundMs);
    const rounds: Record<(typeof targets)[number], number>[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      const measured = { plain: 0, ruled: 0, scanned: 0 };
      // Who goes first changes, so that none always has the warmer machine.
      const first = round % targets.length;
      for (const target of [...targets.slice(first), ...targets.slice(0, first)]) {
        measured[target] = await microseconds(`${url}/${target}`, effort.roundMs);
      }
      rounds.push(measured);
    }
    const line = (name: string, target: 'ruled' | 'scanned', bound: number): Line => ({
      name: `tools/call over HTTP behind ${name} / without`,
      bound,
      subjectUs: median(rounds.map(measured => measured[target])),
      baselineUs: median(rounds.map(({ plain }) => plain)),
      ratio: median(rounds.map(measured => measured[target] / measured.plain)),
    });
    return [line('10 validators', 'ruled', 1 / 0.93), line('10 scans of all text', 'scanned', Infinity)];
  } finally {
    stop();
  }
}

/** Time per call at full load: the inverse of the throughput. */
async function microseconds(url: string, ms: number): Promise<number> {
  const result = await autocannon({
    url,
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
