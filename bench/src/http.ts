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

/**
 * What ten local validators take off the throughput of `tools/call` over HTTP: at most 7 %. What ten that each read all
 * of the text take is mostly their own work, and is told without a bound.
 */
export async function benchHttp(effort: Effort): Promise<Line[]> {
  const [plain, ruled, scanned] = await Promise.all(
    ['plain', 'ruled', 'scanned'].map(kind => startServer('server.js', kind)),
  );
  const servers = [plain, ruled, scanned];
  try {
    for (const server of servers) await microseconds(server, effort.roundMs);
    const rounds: Map<ServerProcess, number>[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      const measured = new Map<ServerProcess, number>();
      // Who goes first changes, so that none always has the warmer machine.
      const first = round % servers.length;
      for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
        measured.set(server, await microseconds(server, effort.roundMs));
      }
      rounds.push(measured);
    }
    const all = (server: ServerProcess) => rounds.map(measured => measured.get(server)!);
    const line = (name: string, server: ServerProcess, bound: number): Line => ({
      name: `tools/call over HTTP behind ${name} / without`,
      bound,
      subjectUs: median(all(server)),
      baselineUs: median(all(plain)),
      ratio: median(all(server).map((us, round) => us / all(plain)[round])),
    });
    return [line('10 validators', ruled, 1 / 0.93), line('10 scans of all text', scanned, Infinity)];
  } finally {
    for (const { stop } of servers) stop();
  }
}

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
