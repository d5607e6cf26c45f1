import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import type { Tool } from '@modelcontextprotocol/client';
import * as v from 'valibot';
import { mcpHeader } from 'nestjs-mcp';
import type { KnownTool, McpClient, McpClientOptions } from 'nestjs-mcp/client';
import { z } from 'zod';
import { LogSpy } from '../fixtures/log-spy.js';
import { startClients, type ClientApp } from './fixtures.js';
import { regional, startHeaderServer, type HeaderServer } from '../fixtures/header-server.js';

let server: HeaderServer;
let clients: ClientApp;
let client: McpClient;
let logs: LogSpy;

async function start(options: Partial<McpClientOptions> = {}): Promise<void> {
  clients = await startClients([
    { name: 'shop', url: server.url, era: 'modern', ...options },
    { name: 'other', url: server.url, era: 'modern' },
  ]);
  clients.app.useLogger((logs = new LogSpy()));
  client = clients.client();
}

/** Calls the tool, and tells which headers its argument was sent in. */
async function headersOf(who = client, name = 'regional'): Promise<Record<string, string>> {
  await who.callTool({ name, arguments: { region: 'eu' } });
  const sent = server.calls.at(-1)!.headers;
  return Object.fromEntries(Object.entries(sent).filter(([header]) => header.startsWith('mcp-param-')));
}

const REGION = { 'mcp-param-region': 'eu' };
const ZONE = { 'mcp-param-zone': 'eu' };
const broken = regional('No Token', 'broken');

beforeEach(async () => {
  server = await startHeaderServer();
  server.tools = [];
});
afterEach(async () => {
  await clients?.close();
  await server.close();
});

describe('known tools', () => {
  beforeEach(() => start());

  it('have their headers sent with no list before', async () => {
    client.addKnownTools([regional()]);
    expect(await headersOf()).toEqual(REGION);
    expect(server.lists).toBe(0);
    expect(logs.warnings).toEqual([]);
  });

  it('are known before and after a list that does not have them', async () => {
    client.addKnownTools([regional()]);
    expect((await client.listTools()).tools).toEqual([]);
    expect(await headersOf()).toEqual(REGION);
    await client.listTools();
    await client.listTools(undefined, { cacheMode: 'refresh' });
    expect(await headersOf()).toEqual(REGION);
  });

  it('may be added after a list', async () => {
    server.tools = [regional('Zone', 'listed')];
    await client.listTools();
    client.addKnownTools([regional()]);
    expect(await headersOf()).toEqual(REGION);
    expect(await headersOf(client, 'listed')).toEqual(ZONE);
  });

  it('are as the server defines them, once it does, and stay known', async () => {
    client.addKnownTools([regional()]);
    server.tools = [regional('Zone')];
    await client.listTools();
    expect(await headersOf()).toEqual(ZONE);
    server.tools = [];
    await client.listTools(undefined, { cacheMode: 'refresh' });
    expect(await headersOf()).toEqual(ZONE);
  });

  it('stay as they were where the definition of the server is invalid', async () => {
    client.addKnownTools([regional()]);
    server.tools = [regional('No Token')];
    expect((await client.listTools()).tools).toEqual([]);
    expect(await headersOf()).toEqual(REGION);
  });

  it('are as they were added last', async () => {
    client.addKnownTools([regional()]);
    client.addKnownTools([regional('Zone')]);
    expect(await headersOf()).toEqual(ZONE);
    server.tools = [regional()];
    await client.listTools();
    client.addKnownTools([regional('Zone')]);
    expect(await headersOf()).toEqual(ZONE);
  });

  it('need no header', async () => {
    client.addKnownTools([{ name: 'regional', inputSchema: { type: 'object' } }]);
    expect(await headersOf()).toEqual({});
    expect(logs.warnings).toEqual([]);
  });

  it('are a copy of what was added', async () => {
    const tool = regional() as { name: string; inputSchema: { type: 'object'; properties: object } };
    client.addKnownTools([tool]);
    tool.inputSchema.properties = {};
    expect(await headersOf()).toEqual(REGION);
  });

  it('are added in their order, a name given twice as it stands last', async () => {
    client.addKnownTools([regional(), regional('Zone')]);
    expect(await headersOf()).toEqual(ZONE);
  });

  const invalid: [string, unknown, RegExp][] = [
    [
      'a rule is broken',
      [regional(), regional('Zone', 'b'), broken],
      /tools\[2\], the tool "broken": .*"No Token"/,
    ],
    ['in the middle', [regional(), broken, regional('Zone', 'b')], /tools\[1\], the tool "broken"/],
    ['null', [regional(), null, regional('Zone', 'b')], /tools\[1\] is not a tool/],
    ['a hole', Object.assign([regional()], { 2: regional('Zone', 'b') }), /tools\[1\] is not a tool/],
    ['no name', [regional(), { inputSchema: { type: 'object' } }], /tools\[1\] is not a tool: its "name"/],
    ['no schema', [regional(), { name: 'b' }], /tools\[1\], the tool "b": its "inputSchema" must be/],
    [
      'no object',
      [regional(), { name: 'b', inputSchema: { type: 'string' } }],
      /tools\[1\], the tool "b": .*object/,
    ],
    [
      'a zod schema of no object',
      [regional(), { name: 'b', inputSchema: z.string() }],
      /tools\[1\], the tool "b"/,
    ],
    ['no list', regional(), /must be a list/],
    ['nothing', undefined, /must be a list/],
  ];
  it.each(invalid)('are added all or none: %s', async (_, tools, message) => {
    expect(() => client.addKnownTools(tools as KnownTool[])).toThrow(TypeError);
    expect(() => client.addKnownTools(tools as KnownTool[])).toThrow(message);
    expect(await headersOf()).toEqual({});
  });

  it('leave what was known as it was where one cannot be added', async () => {
    client.addKnownTools([regional()]);
    expect(() => client.addKnownTools([regional('Zone'), broken])).toThrow(/tools\[1\]/);
    expect(await headersOf()).toEqual(REGION);
  });

  it('are forgotten one by one', async () => {
    client.addKnownTools([regional(), regional('Zone', 'zoned')]);
    client.removeKnownTools(['regional', 'unknown']);
    expect(await headersOf()).toEqual({});
    expect(await headersOf(client, 'zoned')).toEqual(ZONE);
    client.removeKnownTools([]);
    client.removeKnownTools(['unknown']);
    expect(await headersOf(client, 'zoned')).toEqual(ZONE);
  });

  it.each([
    ['a name is none', ['regional', null, 'zoned'], /names\[1\] is not a tool name/],
    ['no list', 'regional', /must be a list/],
  ])('are forgotten all or none: %s', async (_, names, message) => {
    client.addKnownTools([regional()]);
    expect(() => client.removeKnownTools(names as string[])).toThrow(message);
    expect(await headersOf()).toEqual(REGION);
  });

  it('are forgotten all at once, and may be added anew', async () => {
    client.clearKnownTools();
    client.addKnownTools([regional(), regional('Zone', 'zoned')]);
    client.clearKnownTools();
    expect(await headersOf()).toEqual({});
    expect(await headersOf(client, 'zoned')).toEqual({});
    client.addKnownTools([regional()]);
    expect(await headersOf()).toEqual(REGION);
  });

  it('are what the server listed, once they are forgotten', async () => {
    server.tools = [regional('Zone')];
    await client.listTools();
    client.addKnownTools([regional()]);
    client.removeKnownTools(['regional']);
    expect(await headersOf()).toEqual(ZONE);
  });

  it('are those of one client', async () => {
    client.addKnownTools([regional()]);
    expect(await headersOf(clients.client('other'))).toEqual({});
    expect(await headersOf()).toEqual(REGION);
  });

  it('may have a Standard Schema', async () => {
    client.addKnownTools([
      { name: 'regional', inputSchema: z.object({ region: z.string().meta(mcpHeader('Region')) }) },
      {
        name: 'zoned',
        inputSchema: toStandardJsonSchema(
          v.object({ region: v.pipe(v.string(), v.metadata(mcpHeader('Zone'))) }),
        ),
      },
    ]);
    expect(await headersOf()).toEqual(REGION);
    expect(await headersOf(client, 'zoned')).toEqual(ZONE);
  });

  it('give way to the definition that comes with a call, which is for that call alone', async () => {
    client.addKnownTools([regional()]);
    const params = { name: 'regional', arguments: { region: 'eu' } };
    await client.callTool(params, { toolDefinition: regional('Zone') });
    expect(server.calls.at(-1)!.headers).toMatchObject(ZONE);
    expect(server.calls.at(-1)!.headers).not.toHaveProperty('mcp-param-region');
    expect(await headersOf()).toEqual(REGION);
    await client.callTool({ ...params, name: 'b' }, { toolDefinition: regional('Zone', 'b') });
    expect(await headersOf(client, 'b')).toEqual({});
  });

  it.each([
    ['zod', z.object({ region: z.string().meta(mcpHeader('Zone')) })],
    [
      'valibot',
      toStandardJsonSchema(v.object({ region: v.pipe(v.string(), v.metadata(mcpHeader('Zone'))) })),
    ],
  ])('may come with a call as a Standard Schema, too (%s)', async (_, inputSchema) => {
    const params = { name: 'regional', arguments: { region: 'eu' } };
    await client.callTool(params, { toolDefinition: { name: 'regional', inputSchema } });
    expect(server.calls.at(-1)!.headers).toMatchObject(ZONE);
  });

  it('come with a call as they are when it is made', async () => {
    const params = { name: 'regional', arguments: { region: 'eu' } };
    const toolDefinition = regional('Zone');
    const region = toolDefinition.inputSchema.properties!['region'] as Record<string, unknown>;
    const calling = client.callTool(params, { toolDefinition });
    region['x-mcp-header'] = 'Region';
    await calling;
    expect(server.calls.at(-1)!.headers).toMatchObject(ZONE);
    // What the object held before is not remembered.
    await client.callTool(params, { toolDefinition });
    expect(server.calls.at(-1)!.headers).toMatchObject(REGION);
  });

  it('say what a tool answers, as JSON Schema or as a Standard Schema', async () => {
    const called = (outputSchema: KnownTool['outputSchema']) =>
      client.callTool({ name: 'regional' }, { toolDefinition: { ...regional(), outputSchema } });
    await expect(called({ type: 'object' })).rejects.toThrow(/output schema/);
    await expect(called(z.object({ a: z.string() }))).rejects.toThrow(/output schema/);
    await expect(called('nothing' as never)).rejects.toThrow(
      'toolDefinition, the tool "regional": its "outputSchema" must be JSON Schema or a Standard Schema',
    );
  });

  it.each([
    [{ ...broken }, /toolDefinition, the tool "broken": .*"No Token"/],
    [{ name: 'b' } as Tool, /toolDefinition, the tool "b"/],
    [regional(), /toolDefinition is of "regional", not of "broken"/],
  ])('have no call sent with a definition that is none', async (toolDefinition, message) => {
    const calling = client.callTool({ name: 'broken', arguments: {} }, { toolDefinition });
    await expect(calling).rejects.toThrow(message);
    expect(server.attempts).toBe(0);
  });
});

describe('a call without a definition', () => {
  const missing = (name: string) => `The tool "${name}" is called without its definition`;

  it('is warned of once for each tool, over HTTP on 2026-07-28', async () => {
    await start();
    await headersOf();
    await headersOf();
    await headersOf(client, 'zoned');
    await headersOf();
    expect(logs.warnings).toEqual([
      expect.stringContaining(missing('regional')),
      expect.stringContaining(missing('zoned')),
    ]);
    expect(logs.warnings[0]).toMatch(/listTools\(\).*addKnownTools\(\).*"knownTools".*"toolDefinition"/);
  });

  it('is warned of for each tool, however alike their names begin, and for no more than 1000 of them', async () => {
    await start();
    const name = (end: string) => `${'x'.repeat(200)}${end}`;
    await headersOf(client, name('a'));
    await headersOf(client, name('b'));
    await headersOf(client, name('a'));
    expect(logs.warnings).toHaveLength(2);
    for (let from = 0; from < 1000; from += 100) {
      const names = Array.from({ length: 100 }, (_, index) => `tool-${from + index}`);
      await Promise.all(names.map(tool => client.callTool({ name: tool, arguments: { region: 'eu' } })));
    }
    expect(logs.warnings).toHaveLength(1000);
    await headersOf(clients.client('other'), 'regional');
    expect(logs.warnings).toHaveLength(1001);
  }, 120_000);

  it('is warned of however many tools the server lists that are invalid', async () => {
    const invalid = (_: unknown, index: number) => regional('No Token', `invalid-${index}`);
    server.tools = Array.from({ length: 1001 }, invalid);
    await start();
    await client.listTools();
    expect(logs.warnings).toHaveLength(1000);
    await headersOf(client, 'nobody');
    expect(logs.warnings.at(-1)).toContain(missing('nobody'));
  });

  it('is sent without header parameters that its caller made up', async () => {
    await start();
    const headers = { 'Mcp-Param-Region': 'us', 'X-Own': 'mine' };
    await client.callTool({ name: 'regional', arguments: { region: 'eu' } }, { headers });
    expect(server.calls.at(-1)!.headers).not.toHaveProperty('mcp-param-region');
  });

  it('is not warned of on an older revision', async () => {
    await start({ era: 'legacy' });
    await client.callTool({ name: 'regional', arguments: { region: 'eu' } });
    expect(server.calls.at(-1)!.headers).not.toHaveProperty('mcp-param-region');
    expect(logs.warnings).toEqual([]);
  });
});

describe('the option "knownTools"', () => {
  const folder = mkdtempSync(join(tmpdir(), 'known-tools-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (content: string, name = 'tools.json') => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  it.each<[string, () => McpClientOptions['knownTools']]>([
    ['a list', () => [regional()]],
    [
      'a list with a Standard Schema',
      () => [{ name: 'regional', inputSchema: z.object({ region: z.string().meta(mcpHeader('Region')) }) }],
    ],
    ['a file with a list', () => file(JSON.stringify([regional()]))],
    ['a file with the result of a tools/list', () => file(JSON.stringify({ tools: [regional()], ttlMs: 1 }))],
  ])('is %s', async (_, knownTools) => {
    await start({ knownTools: knownTools() });
    expect(await headersOf()).toEqual(REGION);
    expect(server.lists).toBe(0);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['neither a list nor a path', () => 7, /"knownTools" must be a list of tools, or the path/],
    ['a tool that is none', () => [regional(), null], /"knownTools": tools\[1\] is not a tool/],
    ['a broken rule', () => [broken], /"knownTools": tools\[0\], the tool "broken": property "region"/],
    [
      'a file that is missing',
      () => join(folder, 'none.json'),
      /"knownTools": .*none\.json cannot be used: .*ENOENT/,
    ],
    ['a file that is no JSON', () => file('{', 'bad.json'), /"knownTools": .*bad\.json cannot be used/],
    ['a file with something else', () => file('{}', 'else.json'), /neither a list of tools nor the result/],
    ['a file with a broken rule', () => file(JSON.stringify([broken])), /tools\[0\], the tool "broken"/],
  ])('stops the application: %s', async (_, knownTools, message) => {
    const starting = start({ knownTools: knownTools() as KnownTool[] });
    await expect(starting).rejects.toThrow(message);
    await expect(start({ knownTools: knownTools() as KnownTool[] })).rejects.toThrow(
      /^McpClientModule\.register\(\[\{ name: "shop" \}\]\)/,
    );
  });
});
