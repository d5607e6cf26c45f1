import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isInstalled, startNginx, type Proxy } from './proxies.js';

// eslint-disable-next-line no-restricted-syntax -- the program may be missing
(isInstalled('nginx') ? describe : describe.skip)('nodes behind the nginx of the documentation', () => {
  const nodes: Server[] = [];
  let proxy: Proxy;

  /** Refuses some requests, as a node does without Redis. */
  const startNode = async () => {
    const node = createServer((request, response) => {
      request.resume();
      response.writeHead(request.headers['x-refused'] === undefined ? 200 : 503).end();
    }).listen(0, '127.0.0.1');
    nodes.push(node);
    await once(node, 'listening');
    return (node.address() as AddressInfo).port;
  };

  beforeAll(async () => {
    proxy = await startNginx(await Promise.all([startNode(), startNode(), startNode()]));
  });
  afterAll(async () => {
    await proxy.stop();
    for (const node of nodes) node.close();
  });

  it('answer all other requests while they refuse one', async () => {
    const send = async (headers = {}) =>
      (await fetch(proxy.url, { method: 'POST', headers, body: '{}' })).status;
    for (let count = 0; count < 5; count++) {
      expect(await send({ 'x-refused': '1' })).toBe(503);
      expect(await Promise.all(Array.from({ length: 10 }, () => send()))).toEqual(Array(10).fill(200));
    }
  });
});
