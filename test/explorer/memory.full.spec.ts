import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Shop, startExplored } from './explored-app.js';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

const heldBytes = (): number => {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
};

const CALLS = 50;
const NAME_LENGTH = 4_000_000;

it.each([
  ['tools/call', (index: number) => ({ name: String(index).padEnd(NAME_LENGTH, 'x'), arguments: {} })],
  ['resources/read', (index: number) => ({ uri: `shop://${index}/`.padEnd(NAME_LENGTH, 'x') })],
])('long names in %s are not kept', async (method, paramsOf) => {
  const app = await startExplored([Shop], { mcp: { legacy: 'stateless' } });
  const url = await app.url();
  const before = heldBytes();
  for (let index = 0; index < CALLS; index++) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: index, method, params: paramsOf(index) }),
    });
    await answer.text();
  }
  const { json } = await app.get('/mcp-explorer/api/live');
  const kept = heldBytes() - before;
  await app.close();
  expect(json.total).toBe(CALLS);
  // The names together have 200 million characters.
  expect(kept).toBeLessThan((CALLS * NAME_LENGTH) / 2);
});
