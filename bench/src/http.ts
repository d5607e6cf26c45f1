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

/** What ten local validators take off the throughput of `tools/call` over HTTP: at most 7 %. */
export async function benchHttp(effort: Effort): Promise<Line[]> {
  const { url, stop } = await startServer('server.js');
  try {
    const [plain, guarded] = [`${url}/plain`, `${url}/guarded`];
    for (const target of [plain, guarded]) await microseconds(target, effort.roundMs);
    const rounds: { guardedUs: number; plainUs: number }[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      // Who goes first changes, so that neither always has the warmer machine.
      const order = round % 2 ? [plain, guarded] : [guarded, plain];
      const measured = new Map<string, number>();
      for (const target of order) measured.set(target, await microseconds(target, effort.roundMs));
      rounds.push({ guardedUs: measured.get(guarded)!, plainUs: measured.get(plain)! });
    }
    return [
      {
        name: 'tools/call over HTTP behind 10 validators / without',
        bound: 1 / 0.93,
        subjectUs: median(rounds.map(({ guardedUs }) => guardedUs)),
        baselineUs: median(rounds.map(({ plainUs }) => plainUs)),
        ratio: median(rounds.map(({ guardedUs, plainUs }) => guardedUs / plainUs)),
      },
    ];
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
