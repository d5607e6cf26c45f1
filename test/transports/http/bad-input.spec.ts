import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Args, Ctx, McpContext, Prompt, Resource, ResourceTemplate, Tool } from 'nestjs-mcp';
import { platforms, startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

@Injectable()
class Echo {
  readonly aborted: Promise<void>;
  private onAborted!: () => void;
  private onWaiting!: () => void;
  readonly waiting: Promise<void>;

  constructor() {
    this.aborted = new Promise(resolve => (this.onAborted = resolve));
    this.waiting = new Promise(resolve => (this.onWaiting = resolve));
  }

  @Tool()
  echo(@Args('text') text: string) {
    return text;
  }

  @Tool()
  async wait(@Ctx() { signal }: McpContext) {
    this.onWaiting();
    await once(signal, 'abort');
    this.onAborted();
  }

  @Prompt()
  hello() {
    return 'hello';
  }

  @Resource({ uri: 'config://app' })
  config() {
    return 'on';
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  user() {
    return 'user';
  }
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    jsonrpc?: string;
    id?: unknown;
    error?: { code: number; message: string };
    result?: unknown;
  };
}

type Body = string | Buffer | Buffer[];

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const modern = (method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } });

const modernHeaders = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

/** Sends a body as it stands, in the chunks it comes in. */
async function send(
  url: string,
  body: Body,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Answer> {
  const request = httpRequest(url, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  for (const chunk of Array.isArray(body) ? body : [body]) {
    await new Promise(resolve => request.write(chunk, resolve));
  }
  request.end();
  const [response] = (await once(request, 'response')) as [
    NodeJS.ReadableStream & { statusCode: number; headers: IncomingHttpHeaders },
  ];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const json = text.startsWith('event:') ? text.slice(text.indexOf('data:') + 5) : text || '{}';
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(json) as Answer['body'] };
}

const MAX = 10_000;
const long = 'x'.repeat(MAX);

interface Row {
  readonly what: string;
  readonly body: Body;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly status: number;
  readonly code: number;
}

const call = modern('tools/call', { name: 'echo', arguments: { text: 'a' } });

const ROWS: Row[] = [
  { what: 'invalid JSON', body: '{"jsonrpc":', status: 400, code: -32700 },
  { what: 'an empty body', body: '', status: 400, code: -32700 },
  { what: 'invalid UTF-8', body: Buffer.from([0x22, 0xff, 0x22]), status: 400, code: -32700 },
  { what: 'JSON that is no message', body: '42', status: 400, code: -32600 },
  { what: 'null', body: 'null', status: 400, code: -32600 },
  {
    what: 'a wrong content type',
    body: call,
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: -32000,
  },
  {
    what: 'a form',
    body: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    code: -32000,
  },
  {
    what: 'a compressed body',
    body: call,
    headers: { 'content-encoding': 'gzip' },
    status: 415,
    code: -32000,
  },
  {
    what: 'a body over the limit, announced',
    body: `"${long}"`,
    headers: { 'content-length': String(MAX + 2) },
    status: 413,
    code: -32000,
  },
  {
    what: 'a body over the limit, in chunks',
    body: [Buffer.from(`"${long}`), Buffer.from('"')],
    status: 413,
    code: -32000,
  },
  {
    what: 'a batch of 2026-07-28',
    body: `[${call}]`,
    headers: modernHeaders('tools/call', 'echo'),
    status: 400,
    code: -32600,
  },
  {
    what: 'an unknown method',
    body: modern('tools/destroy'),
    headers: modernHeaders('tools/destroy'),
    status: 404,
    code: -32601,
  },
  {
    what: 'an unknown version',
    body: modern('tools/list').replaceAll('2026-07-28', '2099-01-01'),
    headers: { ...modernHeaders('tools/list'), 'mcp-protocol-version': '2099-01-01' },
    status: 400,
    code: -32022,
  },
  {
    what: 'an unknown tool',
    body: modern('tools/call', { name: 'x' }),
    headers: modernHeaders('tools/call', 'x'),
    status: 200,
    code: -32602,
  },
  {
    what: 'an unknown prompt',
    body: modern('prompts/get', { name: 'x' }),
    headers: modernHeaders('prompts/get', 'x'),
    status: 200,
    code: -32602,
  },
  {
    what: 'an unknown resource',
    body: modern('resources/read', { uri: 'a://b' }),
    headers: modernHeaders('resources/read', 'a://b'),
    status: 200,
    code: -32602,
  },
  {
    what: 'a malformed URI',
    body: modern('resources/read', { uri: 'no uri' }),
    headers: modernHeaders('resources/read', 'no uri'),
    status: 200,
    code: -32602,
  },
  {
    what: 'a URI with a broken escape',
    body: modern('resources/read', { uri: 'users://%zz' }),
    headers: modernHeaders('resources/read', 'users://%zz'),
    status: 200,
    code: -32602,
  },
  {
    what: 'a tool name that is no string',
    body: modern('tools/call', { name: 5 }),
    headers: modernHeaders('tools/call', '5'),
    status: 200,
    code: -32602,
  },
  {
    what: 'arguments that are no object',
    body: modern('tools/call', { name: 'echo', arguments: [] }),
    headers: modernHeaders('tools/call', 'echo'),
    status: 200,
    code: -32602,
  },
  {
    what: 'an unknown cursor',
    body: modern('tools/list', { cursor: 'x' }),
    headers: modernHeaders('tools/list'),
    status: 200,
    code: -32602,
  },
  {
    what: 'a missing session id',
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    status: 400,
    code: -32000,
  },
  {
    what: 'an unknown session',
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    headers: { 'mcp-session-id': 'x' },
    status: 404,
    code: -32001,
  },
  { what: 'a foreign Host', body: call, headers: { host: 'evil.example' }, status: 403, code: -32000 },
  {
    what: 'a foreign Origin',
    body: call,
    headers: { origin: 'https://evil.example' },
    status: 403,
    code: -32000,
  },
  { what: 'an unsupported HTTP method', body: call, method: 'PUT', status: 405, code: -32000 },
];

describe.each(platforms())('bad input on %s', platform => {
  let test: TestApp;
  let url: string;

  beforeAll(async () => {
    test = await startApp([Echo], { platform, mcp: { http: { maxBodyBytes: MAX } } });
    url = await test.url();
  });
  afterAll(() => test.close());

  it.each(ROWS)(
    'answers $what with HTTP $status and $code',
    async ({ body, headers, method, status, code }) => {
      const answer = await send(url, body, headers, method);
      expect({ status: answer.status, code: answer.body.error?.code, jsonrpc: answer.body.jsonrpc }).toEqual({
        status,
        code,
        jsonrpc: '2.0',
      });
      expect(answer.body.error?.message).toEqual(expect.stringMatching(/\S/));
      expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|\.ts:|at .*\(/);
    },
  );

  it('reads a multibyte character that is split over two chunks', async () => {
    const bytes = Buffer.from(modern('tools/call', { name: 'echo', arguments: { text: '€' } }));
    const middle = bytes.indexOf(0xe2) + 1;
    const answer = await send(
      url,
      [bytes.subarray(0, middle), bytes.subarray(middle)],
      modernHeaders('tools/call', 'echo'),
    );
    expect(textOf(answer.body.result as object)).toBe('€');
  });

  it('serves on after 1,000 bad requests in a row', async () => {
    for (let index = 0; index < 1000; index += 1) {
      const { body, headers, method, status } = ROWS[index % ROWS.length];
      expect((await send(url, body, headers, method)).status).toBe(status);
    }
    const client = await test.client();
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'still here' } }))).toBe(
      'still here',
    );
  });

  it('aborts the handler of a client that hangs up before its body is complete, and serves on', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a`,
    );
    socket.destroy();
    const client = await test.client();
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'here' } }))).toBe('here');
  });
});

describe.each(platforms())('a client that disconnects in mid-call on %s', platform => {
  it.each([
    ['2026-07-28', 'sessions'],
    ['2025-11-25 with a session', 'sessions'],
    ['2025-11-25 without a session', 'stateless'],
  ] as const)('fires the signal of the call (%s)', async (revision, legacy) => {
    const test = await startApp([Echo], { platform, mcp: { legacy } });
    const url = await test.url();
    const echo = test.app.get(Echo);
    const isModern = revision === '2026-07-28';
    const params = { name: 'wait', arguments: {} };
    let headers: Record<string, string> = isModern ? modernHeaders('tools/call', 'wait') : {};
    if (!isModern && legacy === 'sessions') {
      const opened = await send(url, INITIALIZE);
      headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    }
    const body = isModern
      ? modern('tools/call', params)
      : JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    const request = httpRequest(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });
    request.on('error', () => undefined);
    request.end(body);
    await echo.waiting;
    request.destroy();
    await echo.aborted;
    await test.close();
  });
});

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});
