import { Injectable } from '@nestjs/common';
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { Mutator, type InterceptorInvocation } from 'nestjs-mcp';
import { z } from 'zod';
import { InterceptingMcpClient, type McpClient, type McpClientOptions } from 'nestjs-mcp/client';
import { Chain } from '../../lib/interceptors/chain/chain.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startClients, type ClientApp } from './fixtures.js';
import { regional, startHeaderServer, type HeaderServer } from '../fixtures/header-server.js';

/** Sends every region elsewhere. */
@Injectable()
class Moves {
  @Mutator({ events: ['tools/call'], phase: 'request' })
  move({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const region = payload.arguments?.['region'];
    return typeof region === 'string' && region.startsWith('to ')
      ? { ...payload, arguments: { ...payload.arguments, region: region.slice(3) } }
      : undefined;
  }
}

let server: HeaderServer;
let clients: ClientApp;
let client: McpClient;
let logs: LogSpy;

beforeEach(async () => {
  server = await startHeaderServer();
});
afterEach(async () => {
  await clients?.close();
  await server.close();
});

async function start(options: Partial<McpClientOptions> = {}): Promise<void> {
  clients = await startClients([{ name: 'shop', url: server.url, era: 'modern', ...options }], [Moves]);
  clients.app.useLogger((logs = new LogSpy()));
  client = clients.client();
}
const callWith = async (args: Record<string, unknown>, name = 'regional') => {
  await client.callTool({ name, arguments: args });
  return server.calls.at(-1)!;
};

describe('a client', () => {
  it('sends the standard headers', async () => {
    await start();
    await client.listTools();
    const { headers } = await callWith({});
    expect(headers).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'regional',
    });
  });

  it('sends headers of what interceptors made of the arguments', async () => {
    await start();
    await client.listTools();
    const { headers, args } = await callWith({ region: 'to us' });
    expect(args).toEqual({ region: 'us' });
    expect(headers).toMatchObject({ 'mcp-param-region': 'us' });
  });

  it('sends the same headers however the request is sent', async () => {
    await start();
    await client.listTools();
    const params = { name: 'regional', arguments: { region: 'to us' } };
    await client.request({ method: 'tools/call', params });
    expect(server.calls.at(-1)!.headers).toMatchObject({ 'mcp-param-region': 'us' });
  });

  it('does not send an integer that is not exact', async () => {
    server.tools = [
      {
        name: 'count',
        inputSchema: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
      },
    ];
    await start();
    await client.listTools();
    await expect(callWith({ n: 2 ** 53 }, 'count')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/The argument n is sent in a header/),
    });
    expect(server.attempts).toBe(0);
    expect((await callWith({ n: 2 ** 53 - 1 }, 'count')).headers).toMatchObject({
      'mcp-param-n': '9007199254740991',
    });
  });

  it.each<[string, unknown, string | undefined]>([
    ['minus zero', -0, '0'],
    ['an integer that is written as a fraction', 42.0, '42'],
    ['an integer that is written with an exponent', 1e15, '1000000000000000'],
    ['what JSON has no number for', NaN, undefined],
    ['what is endless', Infinity, undefined],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['what says its JSON by itself', { toJSON: () => 'eu' }, 'eu'],
    ['a text in an object', Object('eu') as object, 'eu'],
    ['what JSON leaves out', () => 'eu', undefined],
  ])('sends what the body says: %s', async (_, value, header) => {
    await start({ knownTools: [regional()] });
    const { headers, args } = await callWith({ region: value });
    expect(headers['mcp-param-region']).toBe(header);
    expect((args as { region?: unknown }).region ?? undefined).toEqual(
      typeof value === 'number' && header !== undefined ? Number(header) : header,
    );
  });

  it('sends what the body says, whatever leads to it', async () => {
    const inputSchema: Tool['inputSchema'] = {
      type: 'object',
      properties: {
        place: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
      },
    };
    await start({ knownTools: [{ name: 'nested', inputSchema }] });
    const { headers, args } = await callWith({ place: { toJSON: () => ({ region: 'eu' }) } }, 'nested');
    expect(args).toEqual({ place: { region: 'eu' } });
    expect(headers).toMatchObject({ 'mcp-param-region': 'eu' });
  });

  it('leaves tools with an invalid header out of its lists, says which and why, once, and keeps the rest', async () => {
    server.tools = [
      regional('No Token', 'spaced'),
      regional(),
      {
        name: 'number',
        inputSchema: { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } },
      },
    ];
    const warned = jest.spyOn(console, 'warn');
    await start();
    for (let round = 0; round < 2; round += 1) {
      const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' });
      expect(tools.map(({ name }) => name)).toEqual(['regional']);
    }
    await callWith({ region: 'eu' }, 'spaced');
    expect(logs.warnings).toEqual([
      expect.stringMatching(
        /The tool "spaced" is left out .*property "region" .*"No Token" is not an HTTP token/,
      ),
      expect.stringMatching(/The tool "number" is left out .*property "n" .*the type "number"/),
    ]);
    expect(warned).not.toHaveBeenCalled();
  });

  it.each([
    ['a type with null', { type: ['string', 'null'], 'x-mcp-header': 'Region' }],
    ['a union with null', { anyOf: [{ type: 'string' }, { type: 'null' }], 'x-mcp-header': 'Region' }],
  ])('keeps a tool whose header parameter is of %s', async (_type, region) => {
    server.tools = [{ name: 'nullable', inputSchema: { type: 'object', properties: { region } } }];
    const warned = jest.spyOn(console, 'warn');
    await start();
    expect((await client.listTools()).tools).toEqual(server.tools);
    expect((await callWith({ region: 'eu' }, 'nullable')).headers).toMatchObject({
      'mcp-param-region': 'eu',
    });
    expect((await callWith({ region: null }, 'nullable')).headers).not.toHaveProperty('mcp-param-region');
    expect([logs.warnings, warned.mock.calls]).toEqual([[], []]);
  });

  it('says so once of a tool, whatever the server words anew', async () => {
    await start();
    for (const header of ['a b', 'c d', 'e f']) {
      server.tools = [regional(header)];
      await client.listTools(undefined, { cacheMode: 'refresh' });
    }
    expect(logs.warnings).toEqual([expect.stringMatching(/The tool "regional" is left out .*"a b"/)]);
  });

  it.each(['Mcp-Name', 'mcp-param-region', 'MCP-Protocol-Version'])(
    'lets no application set a header of the protocol (%s)',
    async name => {
      const wrong = { [name]: 'x' };
      await expect(start({ headers: wrong })).rejects.toThrow(
        `McpClientModule.register([{ name: "shop" }]): "headers" must not have "${name}", ` +
          'because the client sets all headers that begin with "Mcp-"',
      );
      await start({ headers: () => wrong });
      await expect(client.listTools()).rejects.toThrow(`"headers" must not have "${name}"`);
      expect(server.lists).toBe(0);
    },
  );

  it('leaves out what no schema is, and nothing that is only deep', async () => {
    const nested = (levels: number, around: (inner: object) => object, inner: object) => {
      for (let level = 0; level < levels; level += 1) inner = around(inner);
      return { type: 'object' as const, ...inner };
    };
    const property = (inner: object) => ({ properties: { a: inner } });
    const header = { type: 'string', 'x-mcp-header': 'Deep' };
    server.tools = [
      { name: 'deep', inputSchema: nested(200, property, header) },
      { name: 'patterns', inputSchema: nested(200, inner => ({ patternProperties: { a: inner } }), {}) },
      { name: 'too deep', inputSchema: nested(201, property, {}) },
      {
        name: 'too large',
        inputSchema: { type: 'object', anyOf: Array.from({ length: 50_000 }, () => ({})) },
      },
      {
        name: 'too many headers',
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 201 }, (_, index) => [
              `p${index}`,
              { type: 'string', 'x-mcp-header': `P${index}` },
            ]),
          ),
        },
      },
      {
        name: 'too much',
        inputSchema: {
          type: 'object',
          properties: { ['x'.repeat(70_000)]: { type: 'string', 'x-mcp-header': 'X' } },
        },
      },
    ];
    await start();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['deep', 'patterns']);
    expect(logs.warnings).toEqual([
      expect.stringMatching(/"too deep" .*the schema is nested more than 200 levels deep/),
      expect.stringMatching(/"too large" .*the schema holds more than 50000 schemas/),
      expect.stringMatching(/"too many headers" .*the schema names more than 200 headers/),
      expect.stringMatching(/"too much" .*of the properties that lead to them, take more than 131072 bytes/),
    ]);
    const args = nested(199, inner => ({ a: inner }), { a: 'eu' }) as { a?: object };
    expect((await callWith({ a: args.a }, 'deep')).headers).toMatchObject({ 'mcp-param-deep': 'eu' });
  });

  it('keeps no more of definitions than so many bytes, those that were listed last', async () => {
    const long = 'x'.repeat(60_000);
    server.tools = Array.from({ length: 200 }, (_, index) => ({
      name: `t${index}`,
      inputSchema: {
        type: 'object',
        properties: { [long]: { type: 'string', 'x-mcp-header': 'X' } },
      },
    }));
    server.pageSize = 50;
    await start();
    await client.listTools();
    expect((await callWith({ [long]: 'eu' }, 't199')).headers).toMatchObject({ 'mcp-param-x': 'eu' });
    expect((await callWith({ [long]: 'eu' }, 't0')).headers).not.toHaveProperty('mcp-param-x');
  });

  it('does so on every page', async () => {
    server.tools = [
      regional('No Token', 'a'),
      regional('A', 'b'),
      regional('No Token', 'c'),
      regional('A', 'd'),
    ];
    server.pageSize = 1;
    await start();
    expect((await client.listTools({ cursor: '2' })).tools).toEqual([]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['b', 'd']);
    expect((await callWith({ region: 'eu' }, 'd')).headers).toMatchObject({ 'mcp-param-a': 'eu' });
  });

  it('hands on what a list holds that the application asks for with a schema of its own', async () => {
    await start();
    const anything = z.object({ tools: z.array(z.object({ name: z.string() })) });
    expect(await client.request({ method: 'tools/list' }, anything)).toEqual({
      tools: [{ name: 'regional' }],
    });
    const nothing = z.object({});
    expect(await client.request({ method: 'tools/list' }, nothing)).toEqual({});
  });

  it('sends them over a transport of the application, too', async () => {
    await start({
      url: undefined,
      transport: () => new StreamableHTTPClientTransport(new URL(server.url)),
      knownTools: [regional()],
    });
    expect((await callWith({ region: '' })).headers).toMatchObject({ 'mcp-param-region': '' });
  });

  it('writes no control characters of a server into the log', async () => {
    server.tools = [regional('a\nb', `x\u001b[31m\n${'y'.repeat(1000)}`)];
    await start();
    await client.listTools();
    const [line, context] = logs.warnings[0].split('\n');
    expect(line).not.toMatch(/\p{Cc}/u);
    expect(context).toBe('McpClient(shop)');
    expect(logs.warnings[0].length).toBeLessThan(500);
  });

  it('learns the definition from a refusal, and asks once more', async () => {
    server.checked = server.tools;
    await start();
    expect((await callWith({ region: 'eu' })).headers).toMatchObject({ 'mcp-param-region': 'eu' });
    expect([server.lists, server.attempts]).toEqual([1, 2]);
    server.checked = server.tools = [regional('Zone')];
    expect((await callWith({ region: 'eu' })).headers).toMatchObject({ 'mcp-param-zone': 'eu' });
    expect([server.lists, server.attempts]).toEqual([2, 4]);
    await callWith({ region: 'eu' });
    expect([server.lists, server.attempts]).toEqual([2, 5]);
  });

  it('asks once more, and not twice', async () => {
    server.checked = [regional('Zone')];
    await start();
    await expect(callWith({ region: 'eu' })).rejects.toMatchObject({ code: -32020 });
    expect([server.lists, server.attempts]).toEqual([1, 2]);
    await expect(callWith({ region: 'eu' })).rejects.toMatchObject({ code: -32020 });
    expect([server.lists, server.attempts]).toEqual([2, 4]);
  });

  it('relies on the definition that came with the call', async () => {
    server.checked = server.tools;
    await start();
    const calling = client.callTool(
      { name: 'regional', arguments: { region: 'eu' } },
      { toolDefinition: regional('Zone') },
    );
    await expect(calling).rejects.toMatchObject({ code: -32020 });
    expect([server.lists, server.attempts]).toEqual([0, 1]);
  });
});

describe('a call that an interceptor makes one of another tool', () => {
  /** Makes it one of `zoned`. */
  @Injectable()
  class Renames {
    @Mutator({ events: ['tools/call'], phase: 'request', scope: { allow: ['/name'] } })
    rename({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
      return { ...payload, name: 'zoned' };
    }
  }

  it('does not go by the definition that came with it', async () => {
    server.tools = server.checked = [regional('Zone', 'zoned')];
    clients = await startClients([{ name: 'shop', url: server.url, era: 'modern' }], [Renames]);
    client = clients.client();
    const toolDefinition = { ...regional(), outputSchema: { type: 'object' } };
    await client.callTool({ name: 'regional', arguments: { region: 'eu' } }, { toolDefinition });
    const { headers } = server.calls.at(-1)!;
    expect(headers).toMatchObject({ 'mcp-name': 'zoned', 'mcp-param-zone': 'eu' });
    expect(headers).not.toHaveProperty('mcp-param-region');
  });
});

describe('an intercepting client', () => {
  it('has its SDK client send headers of what interceptors made of the arguments', async () => {
    const sdk = new Client(
      { name: 'sdk', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await sdk.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    const move = new Chain([
      {
        host: 'test',
        descriptor: { name: 'move', type: 'mutation', hooks: [{ events: ['tools/call'], phase: 'request' }] },
        invoke: () => ({ modified: true, payload: { name: 'regional', arguments: { region: 'us' } } }),
      },
    ]);
    try {
      const intercepting = new InterceptingMcpClient(sdk, { chain: { current: () => ({ chain: move }) } });
      await intercepting.listTools();
      await intercepting.callTool({ name: 'regional', arguments: { region: 'eu' } });
      expect(server.calls.at(-1)).toMatchObject({
        headers: { 'mcp-param-region': 'us' },
        args: { region: 'us' },
      });
    } finally {
      await sdk.close();
    }
  });
});
