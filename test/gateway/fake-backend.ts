import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Era } from './support.js';

type Json = Record<string, unknown>;

/** A request that a fake backend was sent, and what to answer it with. */
export interface FakeCall {
  readonly id: unknown;
  readonly params: Json;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Answers with a result. */
  reply(result: Json): void;
  /** Begins an event stream, and sends messages on it. */
  send(...messages: Json[]): void;
}

export interface FakeBackend {
  readonly url: string;
  close(): void;
}

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** A server by hand, over HTTP, which does what no server should. A method that it has no answer for is not found. */
export async function fakeBackend(
  methods: Readonly<Record<string, (call: FakeCall) => void>>,
  era: Era = 'modern',
  capabilities: Json = { tools: {} },
  /** Answers a client that takes up an event stream again. */
  resume?: (http: { readonly response: ServerResponse }, lastCall: unknown) => void,
): Promise<FakeBackend> {
  const about = { capabilities, serverInfo: { name: 'fake', version: '1' } };
  const known: Record<string, (call: FakeCall) => void> = {
    [era === 'modern' ? 'server/discover' : 'initialize']: ({ reply }) =>
      reply({ ...about, supportedVersions: ['2026-07-28'], protocolVersion: '2025-11-25' }),
    'tools/list': ({ reply }) => reply({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }),
    ...methods,
  };
  let lastCall: unknown;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['last-event-id'] !== undefined && resume) return resume({ response }, lastCall);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const {
      id,
      method,
      params = {},
    } = (await json(request)) as { id?: unknown; method: string; params?: Json };
    if (id === undefined) return void response.writeHead(202).end();
    const write = (body: Json) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    };
    if (!known[method]) return write({ error: { code: -32601, message: 'Method not found' } });
    if (method === 'tools/call') lastCall = id;
    known[method]({
      id,
      params,
      request,
      response,
      reply: result => write({ result: { ...COMPLETE, ...result } }),
      send: (...messages) => {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const message of messages) {
          response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
        }
      },
    });
  };
  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
