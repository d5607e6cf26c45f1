import autocannon from 'autocannon';

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
const TURNS = 8;

/**
 * Time per request of each load, the best of several turns: whatever else the machine does only makes a turn longer.
 * @param round which of several rounds this is
 * @param roundMs how long each load is warmed up, in milliseconds; a turn takes a fifth of it
 */
export async function bestOf<K extends string>(
  loads: Readonly<Record<K, Load>>,
  round: number,
  roundMs: number,
): Promise<Record<K, number>> {
  const kinds = Object.keys(loads) as K[];
  const best = Object.fromEntries(kinds.map(kind => [kind, Infinity])) as Record<K, number>;
  for (const kind of kinds) await microseconds(loads[kind], roundMs);
  for (let turn = 0; turn < TURNS * kinds.length; turn++) {
    // Who goes first changes, so that none always has the warmer machine.
    const kind = kinds[(turn + round + Math.floor(turn / kinds.length)) % kinds.length];
    best[kind] = Math.min(best[kind], await microseconds(loads[kind], roundMs / 5));
  }
  return best;
}

/** Time per request at full load: the inverse of the throughput. */
async function microseconds({ url, headers, body, says }: Load, ms: number): Promise<number> {
  const result = await autocannon({
    url,
    method: 'POST',
    headers,
    body,
    connections: 10,
    duration: ms / 1000,
    verifyBody: answer => String(answer).includes(says),
  });
  if (result.errors + result.non2xx + result.mismatches > 0 || result['2xx'] === 0) {
    throw new Error(`Not every call was answered: ${JSON.stringify(result)}`);
  }
  return (result.duration * 1e6) / result['2xx'];
}
