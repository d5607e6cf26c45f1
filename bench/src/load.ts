import autocannon from 'autocannon';
import { quantile } from './ratio.js';

/** One request, sent again and again, and what each answer has to say. */
export interface Load {
  /** The MCP endpoint. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly says: string;
}

/** A `tools/call` as a 2026-07-28 client sends it that can show forms. */
export function toolCall(url: string, params: { readonly name: string }, says: string): Load {
  return {
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': params.name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
        },
      },
    }),
    says,
  };
}

/** Many short ones: the machine has slow moments, and all loads are to have their share of them. */
const TURNS = 5;

/** How many answers are timed together. */
const BATCH = 100;

/**
 * Time per request of each load, in a process that has seen enough of it to be as fast as it will be: the tenth
 * percentile of the batches of several turns, for whatever else the machine does only makes a batch longer.
 * @param round which of several rounds this is
 * @param roundMs how long each load is warmed up, and how long it is measured, in milliseconds
 */
export async function timeEach<K extends string>(
  loads: Readonly<Record<K, Load>>,
  round: number,
  roundMs: number,
): Promise<Record<K, number>> {
  const kinds = Object.keys(loads) as K[];
  for (const kind of kinds) await batchesOf(loads[kind], roundMs);
  const batches = Object.fromEntries(kinds.map(kind => [kind, []])) as unknown as Record<K, number[]>;
  for (let turn = 0; turn < TURNS * kinds.length; turn++) {
    // Who goes first changes, so that none always has the warmer machine.
    const kind = kinds[(turn + round + Math.floor(turn / kinds.length)) % kinds.length];
    batches[kind].push(...(await batchesOf(loads[kind], roundMs / TURNS)));
  }
  return Object.fromEntries(kinds.map(kind => [kind, quantile(batches[kind], 0.1)])) as Record<K, number>;
}

/** Microseconds per request at full load, the inverse of the throughput, for each batch of answers. */
async function batchesOf({ url, headers, body, says }: Load, ms: number): Promise<number[]> {
  const answered: number[] = [];
  const result = await autocannon({
    url,
    method: 'POST',
    headers,
    body,
    connections: 10,
    duration: ms / 1000,
    verifyBody: answer => String(answer).includes(says),
    setupClient: client => client.on('response', () => answered.push(performance.now())),
  });
  if (result.errors + result.non2xx + result.mismatches > 0 || answered.length < 2) {
    throw new Error(`Not every call was answered: ${JSON.stringify(result)}`);
  }
  const size = Math.min(BATCH, answered.length - 1);
  return Array.from(
    { length: Math.floor((answered.length - 1) / size) },
    (_, batch) => ((answered[(batch + 1) * size] - answered[batch * size]) * 1000) / size,
  );
}
