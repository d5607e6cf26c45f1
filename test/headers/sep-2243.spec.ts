// Every row of the tables of test cases in SEP-2243 (seps/2243-http-standardization.md), under the SEP's own headings. Where
// the 2026-07-28 specification has moved on, the row says so: the code is -32020, and a nested property may have a header.
import { Injectable } from '@nestjs/common';
import { Args, Prompt, Resource, Tool } from 'nestjs-mcp';
import type { McpClient } from 'nestjs-mcp/client';
import { LogSpy } from '../fixtures/log-spy.js';
import { startHeaderServer, type HeaderServer } from '../fixtures/header-server.js';
import { anyPlatform, startApp, type TestApp } from '../fixtures/matrix.js';
import { startClients, type ClientApp } from '../client/fixtures.js';
import { call, ENVELOPE, send, STANDARD } from './support.js';

@Injectable()
class Handlers {
  @Tool({ name: 'foo', inputSchema: { type: 'object', properties: property('string', 'Region') } })
  foo(@Args('value') value: unknown) {
    return `foo ${JSON.stringify(value)}`;
  }

  @Tool({ name: 'my-tool-name' })
  hyphens() {
    return 'my-tool-name';
  }

  @Tool({ name: 'my_tool_name' })
  underscores() {
    return 'my_tool_name';
  }

  @Resource({ uri: 'file:///path/to/file%20name.txt' })
  file() {
    return 'file';
  }

  @Resource({ uri: 'https://example.com/resource?id=123' })
  query() {
    return 'query';
  }

  @Prompt({ name: 'code_review' })
  review() {
    return 'review';
  }
}

function property(type: string, header: string): Record<string, object> {
  return { value: { type, 'x-mcp-header': header } };
}

const MISMATCH = { status: 400, code: -32020, id: 7 };
const ACCEPTED = { status: 200, code: undefined };

describe.each(anyPlatform())('SEP-2243, the server, on %s', platform => {
  let app: TestApp;
  let url: string;
  beforeAll(async () => {
    app = await startApp([Handlers], { platform });
    url = await app.url();
  });
  afterAll(() => app.close());

  const foo = (args: object, headers: Record<string, string>) => send(url, call(args, 'foo'), headers);
  const standard = { ...STANDARD, 'Mcp-Name': 'foo' };
  const without = (name: keyof typeof STANDARD, headers: Record<string, string> = standard) =>
    Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));

  describe('Standard Header Edge Cases: Case Sensitivity', () => {
    it.each([
      ['Header name case variation', { 'mcp-method': 'tools/call' }, ACCEPTED],
      ['Header name mixed case', { 'MCP-METHOD': 'tools/call' }, ACCEPTED],
      ['Method value case', { 'Mcp-Method': 'TOOLS/CALL' }, MISMATCH],
    ])('%s', async (_, header, expected) => {
      expect(await foo({}, { ...without('Mcp-Method'), ...header })).toMatchObject(expected);
    });
  });

  describe('Standard Header Edge Cases: Header/Body Mismatch', () => {
    it('Method mismatch', async () => {
      const message = { method: 'prompts/get', params: { name: 'code_review', _meta: ENVELOPE } };
      const headers = { ...standard, 'Mcp-Name': 'code_review' };
      expect(await send(url, message, headers)).toMatchObject(MISMATCH);
      expect(await send(url, message, { ...headers, 'Mcp-Method': 'prompts/get' })).toMatchObject(ACCEPTED);
    });
    it('Tool name mismatch', async () => {
      expect(await send(url, call({}, 'bar'), standard)).toMatchObject(MISMATCH);
    });
    it('Missing required header', async () => {
      expect(await foo({}, without('Mcp-Method'))).toMatchObject(MISMATCH);
    });
    it('Extra whitespace in header', async () => {
      expect(await foo({}, { ...standard, 'Mcp-Name': '  foo ' })).toMatchObject(ACCEPTED);
    });
  });

  describe('Standard Header Edge Cases: Special Characters in Values', () => {
    it.each([
      ['Tool name with hyphen', 'tools/call', { name: 'my-tool-name' }],
      ['Tool name with underscore', 'tools/call', { name: 'my_tool_name' }],
      ['Resource URI with special chars', 'resources/read', { uri: 'file:///path/to/file%20name.txt' }],
      ['Resource URI with query string', 'resources/read', { uri: 'https://example.com/resource?id=123' }],
    ])('%s', async (_, method, params) => {
      const [name] = Object.values(params);
      const message = { method, params: { ...params, _meta: ENVELOPE } };
      const headers = { ...STANDARD, 'Mcp-Method': method, 'Mcp-Name': name };
      expect(await send(url, message, headers)).toMatchObject(ACCEPTED);
    });
  });

  describe('Server Validation Edge Cases: Base64 Decoding', () => {
    const region = (header: string, value: string) =>
      foo({ value }, { ...standard, 'Mcp-Param-Region': header });
    it.each([
      ['Valid Base64', '=?base64?SGVsbG8=?=', 'Hello', ACCEPTED],
      ['Invalid Base64 padding', '=?base64?SGVsbG8?=', 'Hello', MISMATCH],
      ['Invalid Base64 characters', '=?base64?SGVs!!!bG8=?=', 'Hello', MISMATCH],
      ['Missing prefix: a literal', 'SGVsbG8=', 'SGVsbG8=', ACCEPTED],
      ['Missing prefix: not Base64', 'SGVsbG8=', 'Hello', MISMATCH],
      ['Missing suffix: a literal', '=?base64?SGVsbG8=', '=?base64?SGVsbG8=', ACCEPTED],
      ['Missing suffix: not Base64', '=?base64?SGVsbG8=', 'Hello', MISMATCH],
      ['Non-lowercase prefix: a literal', '=?BASE64?SGVsbG8=?=', '=?BASE64?SGVsbG8=?=', ACCEPTED],
      ['Non-lowercase prefix: not Base64', '=?BASE64?SGVsbG8=?=', 'Hello', MISMATCH],
    ])('%s', async (_, header, value, expected) => {
      expect(await region(header, value)).toMatchObject(expected);
    });
  });

  describe('Server Validation Edge Cases: Missing Custom Header with Value in Body', () => {
    it('Standard header omitted, value in body', async () => {
      expect(await foo({}, without('Mcp-Name'))).toMatchObject(MISMATCH);
    });
    it('Custom header omitted, value in body', async () => {
      expect(await foo({ value: 'us-west1' }, standard)).toMatchObject(MISMATCH);
    });
  });
});

describe('SEP-2243, the server, at its start', () => {
  describe('Custom Header Edge Cases: Type Restriction Violations', () => {
    it.each([
      ['Array type', 'array'],
      ['Object type', 'object'],
      ['Null type', 'null'],
      ['Number type (2026-07-28)', 'number'],
    ])('%s', async (_, type) => {
      @Injectable()
      class Wrong {
        @Tool({ inputSchema: { type: 'object', properties: property(type, 'Value') } })
        wrong() {}
      }
      await expect(startApp([Wrong])).rejects.toThrow(/^Wrong\.wrong: property "value" /);
    });
    it('Nested property: allowed since (2026-07-28)', async () => {
      @Injectable()
      class Nested {
        @Tool({
          inputSchema: {
            type: 'object',
            properties: { outer: { type: 'object', properties: property('string', 'Value') } },
          },
        })
        nested() {}
      }
      await (await startApp([Nested])).close();
    });
  });
});

describe('SEP-2243, the client', () => {
  let server: HeaderServer;
  let clients: ClientApp;
  let client: McpClient;
  let logs: LogSpy;
  beforeEach(async () => {
    server = await startHeaderServer();
    clients = await startClients([{ name: 'shop', url: server.url, era: 'modern' }]);
    clients.app.useLogger((logs = new LogSpy()));
    client = clients.client();
  });
  afterEach(async () => {
    await clients.close();
    await server.close();
  });

  const define = (name: string, properties: Record<string, object>) =>
    server.tools.push({ name, inputSchema: { type: 'object', properties: properties as never } });
  const headerOf = async (type: string, header: string, args: Record<string, unknown>) => {
    server.tools = [];
    define('tool', property(type, header));
    await client.listTools();
    await client.callTool({ name: 'tool', arguments: args });
    return server.calls.at(-1)!.headers[`mcp-param-${header.toLowerCase()}`];
  };

  describe('Standard Header Edge Cases: Special Characters in Values', () => {
    it.each(['my-tool-name', 'my_tool_name'])('%s is sent as it is', async name => {
      server.tools = [];
      define(name, {});
      await client.listTools();
      await client.callTool({ name });
      expect(server.calls.at(-1)!.headers['mcp-name']).toBe(name);
    });
    it.each(['file:///path/to/file%20name.txt', 'https://example.com/resource?id=123'])(
      '%s is sent as it is',
      async uri => {
        const app = await startApp([Handlers]);
        const reading = await startClients([{ name: 'shop', url: await app.url(), era: 'modern' }]);
        try {
          const { contents } = await reading.client().readResource({ uri });
          expect(contents).toMatchObject([{ uri }]);
        } finally {
          await reading.close();
          await app.close();
        }
      },
    );
  });

  describe('Custom Header Edge Cases: x-mcp-header Name Conflicts and Invalid x-mcp-header Values', () => {
    const two = (a: string, b: string) => ({
      a: { type: 'string', 'x-mcp-header': a },
      b: { type: 'string', 'x-mcp-header': b },
    });
    it.each([
      ['Duplicate header names (same case)', two('Region', 'Region')],
      ['Duplicate header names (different case)', two('Region', 'REGION')],
      ['Empty header name', property('string', '')],
      ['Contains space', property('string', 'My Region')],
      ['Contains colon', property('string', 'Region:Primary')],
      ['Contains non-ASCII', property('string', 'Région')],
      ['Contains control character', property('string', 'Region\t1')],
      ['Array type', property('array', 'Value')],
      ['Object type', property('object', 'Value')],
      ['Null type', property('null', 'Value')],
    ])('%s: the tool is left out, with a warning, and the others are kept', async (_, properties) => {
      define('wrong', properties);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['regional']);
      expect(logs.warnings).toEqual([expect.stringMatching(/The tool "wrong" is left out .*x-mcp-header/)]);
    });

    it('Header name matches standard header', async () => {
      expect(await headerOf('string', 'Method', { value: 'test' })).toBe('test');
      expect(server.calls.at(-1)!.headers['mcp-method']).toBe('tools/call');
    });
  });

  describe('Custom Header Edge Cases: Value Encoding Edge Cases', () => {
    it.each<[string, string, unknown, string]>([
      ['Plain ASCII string', 'string', 'us-west1', 'us-west1'],
      ['String with leading space', 'string', ' us-west1', '=?base64?IHVzLXdlc3Qx?='],
      ['String with trailing space', 'string', 'us-west1 ', '=?base64?dXMtd2VzdDEg?='],
      ['String with leading/trailing spaces', 'string', ' us-west1 ', '=?base64?IHVzLXdlc3QxIA==?='],
      ['String with internal spaces only', 'string', 'us west 1', 'us west 1'],
      ['Boolean true', 'boolean', true, 'true'],
      ['Boolean false', 'boolean', false, 'false'],
      ['Integer', 'integer', 42, '42'],
      ['Integer, negative', 'integer', -7, '-7'],
      ['Integer, the largest', 'integer', 2 ** 53 - 1, '9007199254740991'],
      ['Integer, the smallest', 'integer', 1 - 2 ** 53, '-9007199254740991'],
      ['Non-ASCII characters', 'string', '日本語', '=?base64?5pel5pys6Kqe?='],
      ['String with newline', 'string', 'line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
      ['String with carriage return', 'string', 'line1\r\nline2', '=?base64?bGluZTENCmxpbmUy?='],
      ['String with leading tab', 'string', '\tindented', '=?base64?CWluZGVudGVk?='],
      ['String with a tab inside', 'string', 'a\tb', '=?base64?YQli?='],
      ['Empty string', 'string', '', ''],
      ['A literal of the wrapper', 'string', '=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
      ['The wrapper, overlapping', 'string', '=?base64?=', '=?base64?PT9iYXNlNjQ/PQ==?='],
      ['Hello, world', 'string', 'Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
      ['Padded', 'string', ' padded ', '=?base64?IHBhZGRlZCA=?='],
    ])('%s', async (_, type, value, header) => {
      expect(await headerOf(type, 'Value', { value })).toBe(header);
    });

    it('Floating point: since 2026-07-28 a number has no header, so the tool is left out', async () => {
      define('float', property('number', 'Value'));
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['regional']);
    });

    it.each([2 ** 53, -(2 ** 53)])('Integer out of the safe range: %d is not sent', async value => {
      await expect(headerOf('integer', 'Value', { value })).rejects.toMatchObject({ code: -32602 });
    });
  });

  describe('Server Validation Edge Cases: Null and Missing Values', () => {
    it.each<[string, Record<string, unknown>, string | undefined]>([
      ['Parameter with x-mcp-header is null', { value: null }, undefined],
      ['Parameter with x-mcp-header is missing', {}, undefined],
      ['Optional parameter present', { value: 'us-west1' }, 'us-west1'],
    ])('%s', async (_, args, header) => {
      expect(await headerOf('string', 'Region', args)).toBe(header);
    });
  });
});
