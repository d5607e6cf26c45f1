import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { startGateway } from './support.js';

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

it('requests that wait for the backend of a gateway count as calls', async () => {
  const hole = createServer().listen(0, '127.0.0.1');
  await once(hole, 'listening');
  const { port } = hole.address() as AddressInfo;
  const gateway = await startGateway({
    backend: { url: `http://127.0.0.1:${port}/mcp`, connectTimeoutMs: 600_000 },
    calls: { maxPerCaller: 1 },
  });
  const giveUp = new AbortController();
  const open = () =>
    fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: initialize,
      signal: giveUp.signal,
    });
  const waiting = open().catch(() => 'given up');
  const [socket] = (await once(hole, 'connection')) as [Socket];
  const refused = await open();
  expect([refused.status, await refused.json()]).toMatchObject([429, { id: 1, error: { code: -32000 } }]);
  giveUp.abort();
  socket.destroy();
  await waiting;
  hole.close();
  await gateway.app.close();
});
