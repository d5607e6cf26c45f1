import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { boundedFetch, ResponseTooLargeError } from '../../lib/connection/bounded-fetch.js';
import { loadSdkClient } from '../../lib/connection/sdk-client.js';

const servers: Server[] = [];
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const fetchFor = (origin: string) =>
  boundedFetch({ maxBytes: 1000, endpoint: new URL(origin), headersOf: () => ({ 'x-key': 'secret' }) });
/** Sends a notification, as the client's transport does. */
async function notify(origin: string) {
  const { AnswerWatchingTransport } = await loadSdkClient('test');
  const transport = new AnswerWatchingTransport(new URL('/mcp', origin), { fetch: fetchFor(origin) });
  await transport.start();
  await transport.send({ jsonrpc: '2.0', method: 'a' }).finally(() => transport.close());
}
const post = (origin: string, path = '/mcp') =>
  fetchFor(origin)(new URL(path, origin), { method: 'POST', body: '{"a":1}' });

describe('a request to the server that is meant', () => {
  it('follows a redirect on the same origin, with its headers and its body', async () => {
    const seen: unknown[] = [];
    const origin = await serve((request, response) => {
      if (request.url === '/mcp') return void response.writeHead(307, { location: '/moved' }).end();
      seen.push(request.headers['x-key']);
      request.on('data', chunk => seen.push(String(chunk)));
      request.on('end', () => response.writeHead(202).end());
    });
    await notify(origin);
    expect(seen).toEqual(['secret', '{"jsonrpc":"2.0","method":"a"}']);
  });

  it('is not sent on to another origin', async () => {
    let reached = 0;
    const other = await serve((_request, response) => (reached++, response.end()));
    const origin = await serve((_request, response) => response.writeHead(307, { location: other }).end());
    await expect(notify(origin)).rejects.toThrow(`Redirect to ${other}/ not followed`);
    expect((await post(origin)).status).toBe(307);
    expect(reached).toBe(0);
  });

  it.each([
    ['would lose the body', 302, '/moved'],
    ['goes round in a circle', 307, '/mcp'],
  ])('does not follow a redirect that %s', async (_what, status, location) => {
    const origin = await serve((_request, response) => response.writeHead(status, { location }).end());
    await expect(notify(origin)).rejects.toThrow(/Redirect to .* not followed/);
  });

  it('hands its headers to nobody else', async () => {
    const other = await serve((request, response) => response.end(String(request.headers['x-key'])));
    const origin = await serve((_request, response) => response.end());
    const response = await fetchFor(origin)(other, {});
    expect(await response.text()).toBe('undefined');
  });
});

const EVENT = `data: ${'x'.repeat(400)}\n`;

describe('an answer', () => {
  it.each([
    ['of the largest size', 'application/json', 'x'.repeat(1000)],
    ['that is a stream of any length', 'text/event-stream', `${EVENT}\n`.repeat(100)],
    ['that is a stream with carriage returns', 'text/event-stream', `${EVENT}\r\n`.repeat(100)],
  ])('%s is read', async (_what, type, body) => {
    const origin = await serve((_request, response) => response.setHeader('content-type', type).end(body));
    expect(await (await post(origin)).text()).toBe(body);
  });

  it.each([
    ['that is larger', 'application/json', 'x'.repeat(1001)],
    ['with an event that is larger, in one line', 'text/event-stream', 'x'.repeat(1001)],
    ['with an event that is larger, in many lines', 'text/event-stream', EVENT.repeat(3)],
  ])('%s is not', async (_what, type, body) => {
    const origin = await serve((_request, response) => response.setHeader('content-type', type).end(body));
    await expect((await post(origin)).text()).rejects.toThrow(ResponseTooLargeError);
  });
});
