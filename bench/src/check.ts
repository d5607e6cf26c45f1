import { isDeepStrictEqual } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Running } from './requests.js';

/** Has the official client make the call that is measured. Bare Nest does not speak MCP. */
export async function checkWithClient({ program, url, setup, call }: Running): Promise<void> {
  if (program === 'bare') return;
  const mode = setup.era === '2026-07-28' ? { pin: setup.era } : 'legacy';
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${setup.token ?? 'token-of-ada'}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  try {
    const { tools } = await client.listTools();
    const least = setup.search ? 2 : setup.tools / (setup.toolsets ?? 1);
    if (tools.length < least) throw new Error(`${program} lists ${tools.length} tools`);
    const { name, arguments: args } = call.params;
    // The official client waits for no tasks.
    if (name === undefined || name === 'ask' || call.isTask) return;
    const result = await client.callTool({ name, arguments: args as Record<string, unknown> });
    if (!JSON.stringify(result.content).includes(call.says)) {
      throw new Error(`${program} answered ${JSON.stringify(result)}`);
    }
  } finally {
    await client.close();
  }
}

/** Bare Nest is to answer with the JSON of ours; the others, and its plain route, are to say the same. */
export function checkAnswer({ program, call, setup }: Running, answer: string, ours: string): void {
  if (!answer.includes(call.says)) throw new Error(`${program} answered ${answer.slice(0, 1000)}`);
  if (program !== 'bare' || setup.feature === 'route') return;
  if (!isDeepStrictEqual(JSON.parse(answer), JSON.parse(ours))) {
    throw new Error(`Bare Nest answered\n${answer.slice(0, 1000)}\nand ours\n${ours.slice(0, 1000)}`);
  }
}
