import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/server';
import { boundedFetch } from '../../lib/connection/bounded-fetch.js';
import { directPost } from '../../lib/connection/direct-post.js';
import { loadSdkClient } from '../../lib/connection/sdk-client.js';

const CALL: JSONRPCRequest = {
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: {
    name: 'größe',
    arguments: { text: 'a' },
    _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
  },
};
const RESULT = JSON.stringify({ jsonrpc: '2.0', id: 7, result: { content: [] } });
const ERROR = JSON.stringify({ jsonrpc: '2.0', id: 7, error: { code: -32602, message: 'No' } });
const PARAMETER = { 'Mcp-Param-Region': 'eu' };

let server: Server;
let answer: (response: ServerResponse, request: IncomingMessage) => void;
const requests: { headers: IncomingMessage['headers']; body: string }[] = [];

/** `fetch` adds these on its own. A call that Node's client posts does not ask for a compressed answer. */
function withoutThoseOfFetch(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const {
    'accept-encoding': _encoding,
    'accept-language': _language,
    'sec-fetch-mode': _mode,
    ...others
  } = headers;
  return others;
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', chunk => (body += String(chunk)));
    request.on('end', () => {
      requests.push({ headers: withoutThoseOfFetch(request.headers), body });
      answer(response, request);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => requests.splice(0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The application's headers. */
let own: Record<string, string> = {};
afterEach(() => (own = {}));

async function transportFor(way: 'direct' | 'sdk') {
  const { AnswerWatchingTransport } = await loadSdkClient('test');
  const endpoint = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const bounds = { maxBytes: 1000, endpoint, headersOf: () => ({ authorization: 'Bearer a', ...own }) };
  const transport = new AnswerWatchingTransport(endpoint, {
    fetch: boundedFetch(bounds),
    directPost: way === 'direct' ? directPost(bounds) : undefined,
  });
  await transport.start();
  return transport;
}

/** What a call ends with: the messages that the client gets, and the error. */
async function outcomeOf(way: 'direct' | 'sdk') {
  const transport = await transportFor(way);
  const messages: JSONRPCMessage[] = [];
  const reported: string[] = [];
  transport.onmessage = message => messages.push(message);
  transport.onerror = ({ message }) => reported.push(message);
  const error = await transport
    .send(CALL, { headers: PARAMETER, requestSignal: new AbortController().signal })
    .catch(({ name, message }: Error) => `${name}: ${message}`);
  await transport.close();
  return { messages, error, reported };
}

const json =
  (body: string, status = 200, type = 'application/json') =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': type }).end(body);

describe('a call that is posted without the transport of the SDK', () => {
  it.each<[string, typeof answer]>([
    ['a result', json(RESULT)],
    ['a result with a charset', json(RESULT, 200, 'application/json; charset=utf-8')],
    ['a result in a list', json(`[${RESULT}]`)],
    ['an error', json(ERROR)],
    ['an error with a status', json(ERROR, 400)],
    ['a refusal', json('{}', 403)],
    ['a text', json('hello', 200, 'text/plain')],
    ['something that is not JSON', json('{')],
    ['something that is not JSON-RPC', json('{"a":1}')],
    ['an answer that is too large', json(JSON.stringify({ result: 'x'.repeat(1000) }))],
    ['the answer to another request', json(RESULT.replace('7', '8'))],
    ['an event stream', json(`data: ${RESULT}\n\n`, 200, 'text/event-stream')],
    ['an event stream without the answer', json(': nothing\n\n', 200, 'text/event-stream')],
    ['nothing', response => void response.writeHead(202).end()],
    ['an end of the connection', response => void response.destroy()],
    [
      'a redirect',
      (response, { url }) =>
        url === '/mcp' ? void response.writeHead(307, { location: '/moved' }).end() : json(RESULT)(response),
    ],
  ])('ends as one that the SDK posts, when the server sends %s', async (_what, respond) => {
    answer = respond;
    const direct = await outcomeOf('direct');
    const posted = requests.splice(0);
    expect(direct).toEqual(await outcomeOf('sdk'));
    expect(posted).toEqual(requests);
  });

  it('has the headers of the application as `fetch` sends them', async () => {
    answer = json(RESULT);
    own = { authorization: 'Bearer a\n', 'X-Tenant': ' one ' };
    const direct = await outcomeOf('direct');
    const posted = requests.splice(0);
    expect(direct).toEqual(await outcomeOf('sdk'));
    expect(posted).toEqual(requests);
    expect(posted[0].headers).toMatchObject({ authorization: 'Bearer a', 'x-tenant': 'one' });
  });

  it.each<Record<string, string>>([
    { 'content-length': '2' },
    { 'Transfer-Encoding': 'chunked' },
    { connection: 'close' },
  ])('has its own frame, not %j of the application', async framing => {
    answer = json(RESULT);
    own = framing;
    const { messages } = await outcomeOf('direct');
    expect(messages).toEqual([JSON.parse(RESULT)]);
    const { headers, body } = requests[0];
    expect(JSON.parse(body)).toEqual(CALL);
    expect(headers).toMatchObject({
      'content-length': String(Buffer.byteLength(body)),
      connection: 'keep-alive',
    });
    expect(requests).toHaveLength(1);
  });

  it('gives its connection back after an answer without content', async () => {
    answer = response => void response.writeHead(204).end();
    const connections = new Set<unknown>();
    server.on('request', ({ socket }: IncomingMessage) => connections.add(socket));
    for (let count = 0; count < 20; count++) await outcomeOf('direct');
    // A call may begin before the connection of the last one is free.
    expect(connections.size).toBeLessThan(10);
  });

  it('goes through a `fetch` that the application has replaced', async () => {
    answer = json(RESULT);
    const replaced = jest.spyOn(globalThis, 'fetch');
    try {
      const { messages } = await outcomeOf('direct');
      expect(messages).toEqual([JSON.parse(RESULT)]);
      expect(replaced).toHaveBeenCalledTimes(1);
    } finally {
      replaced.mockRestore();
    }
  });

  it('goes through `fetch` if the application has set another dispatcher for it', async () => {
    answer = json(RESULT);
    const place = globalThis as Record<symbol, object>;
    const dispatcher = Symbol.for('undici.globalDispatcher.1');
    const original = place[dispatcher];
    const modes: unknown[] = [];
    server.on('request', ({ headers }: IncomingMessage) => modes.push(headers['sec-fetch-mode']));
    await outcomeOf('direct');
    place[dispatcher] = new (class Agent {})();
    await outcomeOf('direct');
    place[dispatcher] = original;
    expect(modes).toEqual([undefined, 'cors']);
  });

  it('ends when the transport is closed', async () => {
    const transport = await transportFor('direct');
    answer = () => undefined;
    const arrived = once(server, 'request') as Promise<[IncomingMessage]>;
    const sent = transport.send(CALL, { requestSignal: new AbortController().signal });
    const [request] = await arrived;
    const left = once(request.socket, 'close');
    await Promise.all([transport.close(), expect(sent).rejects.toThrow('aborted'), left]);
  });

  it('ends when the request is aborted', async () => {
    const transport = await transportFor('direct');
    answer = () => undefined;
    const ending = new AbortController();
    const arrived = once(server, 'request') as Promise<[IncomingMessage]>;
    const sent = transport.send(CALL, { requestSignal: ending.signal }).catch(() => 'ended');
    const [request] = await arrived;
    const left = once(request.socket, 'close');
    ending.abort();
    expect(await sent).toBe('ended');
    await left;
    await transport.close();
  });
});
