import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Injectable } from '@nestjs/common';
import { InterceptorChainRunner, Tool, type ChainReport } from 'nestjs-mcp';
import { startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

@Injectable()
class Shop {
  @Tool()
  order() {
    return 'ordered';
  }
}

interface Rpc {
  readonly id: number;
  readonly method: string;
}

const MIB = 1024 * 1024;
/** Ample for a host that answers, also while a busy machine looks after others. */
const TIMEOUT_MS = 2000;

let sentMiB = 0;

/** What a host does with the answer to `interceptor/invoke`. */
type Misdeed = (response: ServerResponse, rpc: Rpc, request: IncomingMessage) => void;

const json = (response: ServerResponse, body: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
const result = (id: unknown, value: object) => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', ...value },
});

const MISDEEDS: [string, Misdeed, RegExp][] = [
  ['hangs', () => undefined, new RegExp(`longer than ${TIMEOUT_MS} ms`)],
  ['hangs up', (_response, _rpc, request) => request.socket.destroy(), /./],
  [
    'sends half an answer, and hangs up',
    (response, { id }) => {
      const whole = JSON.stringify(result(id, { valid: true }));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
      response.write(whole.slice(0, whole.length / 2), () => response.destroy());
    },
    /./,
  ],
  [
    'sends half an answer, and nothing more',
    (response, { id }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(JSON.stringify(result(id, { valid: true })).slice(0, 20));
    },
    new RegExp(`longer than ${TIMEOUT_MS} ms`),
  ],
  [
    'sends 64 MB',
    (response, { id }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"jsonrpc":"2.0","id":${id},"result":{"valid":true,"info":{"text":"`);
      const more = (): void => {
        while (sentMiB++ < 64) if (!response.write('x'.repeat(MIB))) return void response.once('drain', more);
        response.end('"}}}');
      };
      response.on('error', () => undefined);
      more();
    },
    /larger than|terminated/,
  ],
  [
    'answers another question',
    (response, { id }) => json(response, result(id + 1000, { valid: true })),
    /can come any more/,
  ],
  ['answers no JSON', response => response.setHeader('content-type', 'application/json').end('<html>'), /./],
  ['answers in HTML', response => response.setHeader('content-type', 'text/html').end('<html>'), /./],
  ['answers with HTTP 500', response => response.writeHead(500).end('password=hunter2'), /./],
  [
    'answers with another type',
    (response, { id }) => json(response, result(id, { valid: 'yes' })),
    /malformed/,
  ],
  ['answers with nothing', (response, { id }) => json(response, result(id, {})), /malformed/],
  [
    'answers with an error',
    (response, { id }) =>
      json(response, { jsonrpc: '2.0', id, error: { code: -32603, message: 'password=hunter2' } }),
    /hunter2/,
  ],
];

let server: Server;
let misdeed: Misdeed | undefined;
let test: TestApp | undefined;

/** A host that behaves until it is asked to check something. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const rpc = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Rpc;
  switch (rpc.method) {
    case 'server/discover':
      return void json(
        response,
        result(rpc.id, {
          supportedVersions: ['2026-07-28'],
          capabilities: {},
          serverInfo: { name: 'raw', version: '1' },
        }),
      );
    case 'interceptors/list':
      return void json(
        response,
        result(rpc.id, {
          interceptors: [
            { name: 'check', type: 'validation', hooks: [{ events: ['tools/call'], phase: 'request' }] },
          ],
        }),
      );
    case 'interceptor/invoke':
      return misdeed ? misdeed(response, rpc, request) : void json(response, result(rpc.id, { valid: true }));
    default:
      response.writeHead(202).end();
  }
}

beforeEach(async () => {
  misdeed = undefined;
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await test?.close();
  server.closeAllConnections();
  if (server.listening) await new Promise(resolve => server.close(resolve));
});

async function shop(failOpen: boolean, breaker = { volume: 1000 }) {
  const { port } = server.address() as AddressInfo;
  test = await startApp([Shop], {
    mcp: {
      interceptors: {
        servers: [
          { name: 'raw', url: `http://127.0.0.1:${port}`, era: 'modern', maxResponseBytes: 4 * MIB, breaker },
        ],
        overrides: { check: { failOpen, timeoutMs: TIMEOUT_MS } },
      },
    },
  });
  const client = await test.client();
  const reports: ChainReport[] = [];
  test.app.get(InterceptorChainRunner, { strict: false }).reports$.subscribe(report => reports.push(report));
  const order = () =>
    client
      .callTool({ name: 'order' })
      .then(textOf, ({ code, message, data }: { code: number; message: string; data: unknown }) => {
        expect(JSON.stringify([message, data])).not.toContain('hunter2');
        return code;
      });
  return { order, reports };
}

describe.each(MISDEEDS)('a host that %s', (what, does, error) => {
  // Whatever it was, a failure is decided upon in one way: the other decision is made for one of them.
  it.each<[boolean, number | string]>([
    [false, -32602],
    ...(what === 'hangs up' ? [[true, 'ordered'] as [boolean, string]] : []),
  ])('is a failure of that interceptor, and failOpen: %j decides', async (failOpen, decided) => {
    const { order, reports } = await shop(failOpen);
    expect(await order()).toBe('ordered');
    misdeed = does;
    sentMiB = 0;
    expect(await order()).toBe(decided);
    // What is too much is not read to its end.
    expect(sentMiB).toBeLessThan(32);
    expect(reports.at(-1)?.result.results[0].error).toMatch(error);
    misdeed = undefined;
    expect([await order(), reports.at(-1)?.result.results[0].error]).toEqual(['ordered', undefined]);
  });
});

it.each([
  [false, -32602],
  [true, 'ordered'],
])(
  'a host that refuses connections is one that failed, and failOpen: %j decides',
  async (failOpen, decided) => {
    const { order } = await shop(failOpen);
    expect(await order()).toBe('ordered');
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
    expect(await order()).toBe(decided);
  },
);

it('a host that was never there lets nothing pass', async () => {
  server.closeAllConnections();
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  test = await startApp([Shop], {
    mcp: { interceptors: { servers: [{ name: 'raw', url: `http://127.0.0.1:${port}` }] } },
  });
  const client = await test.client();
  await expect(client.callTool({ name: 'order' })).rejects.toMatchObject({ code: -32603 });
});
