import type { Server } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import {
  Args,
  HeaderParam,
  McpExecutionContext,
  Mutator,
  Prompt,
  Resource,
  Tool,
  Validator,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { anyPlatform, startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { call, ENVELOPE, Mirror, send, STANDARD } from './support.js';

/** What a guard is told before anybody has looked at the arguments. */
@Injectable()
class RegionGuard implements CanActivate {
  static seen: unknown[] = [];

  canActivate(context: ExecutionContext) {
    if (context.getType<string>() !== 'mcp') return true;
    const region = McpExecutionContext.create(context).getContext().headerParam('Region');
    RegionGuard.seen.push(region);
    return region !== 'forbidden';
  }
}

@Injectable()
class Guarded {
  @Tool({
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, size: { type: 'integer' } },
    },
  })
  @UseGuards(RegionGuard)
  guarded(@HeaderParam('Region') region: string) {
    return region;
  }

  @Prompt()
  greet(@Args('name') name: string) {
    return `hello ${name}`;
  }

  @Resource({ uri: 'file:///a%20b?c=d,%20e' })
  read() {
    return 'read';
  }
}

@Injectable()
class Moves {
  @Mutator({ events: ['tools/call'], phase: 'request' })
  move({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return payload.arguments?.['text'] === 'move me'
      ? { ...payload, arguments: { ...payload.arguments, text: 'moved' } }
      : undefined;
  }
}

@Injectable()
class Asked {
  static uris: unknown[] = [];

  @Validator({ events: ['resources/subscribe'], phase: 'request' })
  allow({ payload }: InterceptorInvocation<'resources/subscribe', 'request'>) {
    Asked.uris.push(payload.uri);
    return false;
  }
}

const MISMATCH = { status: 400, code: -32020, id: 7 };

describe.each(anyPlatform())('the headers of 2026-07-28 on %s', platform => {
  let app: TestApp;
  let url: string;
  const mirror = (args: object, headers: Record<string, string | string[]> = {}) =>
    send(url, call(args), { ...STANDARD, ...headers });

  beforeAll(async () => {
    app = await startApp([Mirror, Guarded, Moves, Asked], { platform });
    url = await app.url();
  });
  afterAll(() => app.close());

  it('gives a handler the values, decoded, with the type that the schema declares', async () => {
    const { status, text } = await mirror(
      { text: 'Zürich', count: 42, flag: false, place: { region: 'eu' } },
      {
        'Mcp-Param-Text': '=?base64?WsO8cmljaA==?=',
        'Mcp-Param-Count': '42.0',
        'mcp-param-FLAG': 'false',
        'Mcp-Param-Region': '  eu ',
      },
    );
    expect(status).toBe(200);
    expect(JSON.parse(text!)).toEqual({
      text: 'Zürich',
      count: 42,
      flag: false,
      region: 'eu',
      again: 'Zürich',
      era: 'modern',
    });
  });

  it('needs no header for what is null or absent', async () => {
    expect(await mirror({})).toMatchObject({ status: 200, text: JSON.stringify({ era: 'modern' }) });
    expect(await mirror({ text: null })).toMatchObject({ status: 200 });
  });

  it('has no header to go without, whatever the type of a value', async () => {
    for (const [name, value] of [
      ['Text', { a: 1 }],
      ['Text', ['a']],
      ['Count', 1.5],
      ['Flag', 'yes'],
    ] as const) {
      expect(await mirror({ [name.toLowerCase()]: value })).toMatchObject({
        ...MISMATCH,
        message: `Header mismatch: the Mcp-Param-${name} header is missing, but the body has a value for ${name.toLowerCase()}`,
      });
    }
    const fraction = await mirror({ count: 1.5 }, { 'Mcp-Param-Count': '1.5' });
    expect(fraction).toMatchObject({ status: 200, text: expect.stringMatching(/count: must be integer/) });
  });

  it.each<[string, object, Record<string, string | string[]>, RegExp]>([
    ['a missing header', { text: 'a' }, {}, /Mcp-Param-Text header is missing/],
    ['another value', { text: 'a' }, { 'Mcp-Param-Text': 'b' }, /Mcp-Param-Text header differs from text/],
    ['another case of the value', { text: 'a' }, { 'Mcp-Param-Text': 'A' }, /differs/],
    [
      'a nested value',
      { place: { region: 'eu' } },
      { 'Mcp-Param-Region': 'us' },
      /differs from place.region/,
    ],
    ['a nested value without', { place: { region: 'eu' } }, {}, /Mcp-Param-Region header is missing/],
    ['an empty text without', { text: '' }, {}, /is missing/],
    ['false without', { flag: false }, {}, /is missing/],
    ['zero without', { count: 0 }, {}, /is missing/],
    ['a header for nothing', {}, { 'Mcp-Param-Text': 'a' }, /the body has none for text/],
    ['a header for null', { text: null }, { 'Mcp-Param-Text': 'a' }, /the body has none for text/],
    ['a header for an object', { text: {} }, { 'Mcp-Param-Text': 'a' }, /differs/],
    ['the header twice', { text: 'a, b' }, { 'Mcp-Param-Text': ['a', 'b'] }, /is there more than once/],
    ['no padding', { text: 'Hello' }, { 'Mcp-Param-Text': '=?base64?SGVsbG8?=' }, /is malformed/],
    ['no Base64', { text: 'Hello' }, { 'Mcp-Param-Text': '=?base64?SGVs!!!bG8=?=' }, /is malformed/],
    ['bits left over', { text: 'Hello' }, { 'Mcp-Param-Text': '=?base64?SGVsbG9=?=' }, /is malformed/],
    ['no UTF-8', { text: '\ufffd' }, { 'Mcp-Param-Text': '=?base64?/w==?=' }, /is malformed/],
    ['a byte above ASCII', { text: 'é' }, { 'Mcp-Param-Text': 'é' }, /is malformed/],
    ['True', { flag: true }, { 'Mcp-Param-Flag': 'True' }, /differs/],
    ['1 for true', { flag: true }, { 'Mcp-Param-Flag': '1' }, /differs/],
    ['another integer', { count: 42 }, { 'Mcp-Param-Count': '43' }, /differs/],
    ['hexadecimal', { count: 26 }, { 'Mcp-Param-Count': '0x1a' }, /differs/],
    ['an exponent', { count: 1000 }, { 'Mcp-Param-Count': '1e3' }, /differs/],
    ['a zero in front', { count: 42 }, { 'Mcp-Param-Count': '042' }, /differs/],
    ['a plus', { count: 42 }, { 'Mcp-Param-Count': '+42' }, /differs/],
    ['no number', { count: 42 }, { 'Mcp-Param-Count': '' }, /differs/],
    ['2^53', { count: 2 ** 53 }, { 'Mcp-Param-Count': '9007199254740992' }, /differs/],
    ['2^53 without', { count: 2 ** 53 }, {}, /is missing/],
  ])('refuses %s', async (_, args, headers, message) => {
    expect(await mirror(args, headers)).toMatchObject({
      ...MISMATCH,
      message: expect.stringMatching(message),
    });
  });

  describe('a request of which Node may have dropped headers', () => {
    const many = (count: number) => ({ a: Array<string>(count).fill('') });
    /** Node itself refuses a request without it, and would write it last. */
    const host = () => ({ host: new URL(url).host });

    it.each<[string, object, Record<string, string | string[]>]>([
      ['what says that they count', { text: 'a' }, { ...many(1000), ...STANDARD, 'Mcp-Param-Text': 'b' }],
      ['one that the body has no value for', {}, { ...STANDARD, ...many(1000), 'Mcp-Param-Text': 'b' }],
      ['none of them', {}, { ...STANDARD, ...many(2000) }],
    ])('is refused, be it %s', async (_, args, headers) => {
      expect(await send(url, call(args), { ...host(), ...headers })).toMatchObject({
        status: 431,
        code: -32000,
      });
    });

    it('is refused at the limit of the application', async () => {
      const server = app.app.getHttpServer() as Server;
      const before = server.maxHeadersCount;
      server.maxHeadersCount = 20;
      try {
        expect(await mirror({}, { ...host(), ...many(20) })).toMatchObject({ status: 431, code: -32000 });
        expect(await mirror({}, { ...host(), ...many(5) })).toMatchObject({ status: 200 });
        server.maxHeadersCount = 0;
        expect(await mirror({}, { ...host(), ...many(1000) })).toMatchObject({ status: 200 });
      } finally {
        server.maxHeadersCount = before;
      }
      expect(await mirror({}, { ...host(), ...many(900) })).toMatchObject({ status: 200 });
    });
  });

  it('takes a tab that another client did not encode', async () => {
    expect(await mirror({ text: 'a\tb' }, { 'Mcp-Param-Text': 'a\tb' })).toMatchObject({ status: 200 });
  });

  it('does not tell an object by what every object inherits', async () => {
    expect(await mirror({ place: {} })).toMatchObject({ status: 200 });
  });

  describe('the standard headers', () => {
    const without = (name: keyof typeof STANDARD) => {
      const { [name]: _, ...rest } = STANDARD;
      return rest;
    };
    const all = [
      ['no version', without('MCP-Protocol-Version')],
      ['no method', without('Mcp-Method')],
      ['no name', without('Mcp-Name')],
      ['another version', { ...STANDARD, 'MCP-Protocol-Version': '2025-11-25' }],
      ['another method', { ...STANDARD, 'Mcp-Method': 'prompts/get' }],
      ['a method in capitals', { ...STANDARD, 'Mcp-Method': 'TOOLS/CALL' }],
      ['another name', { ...STANDARD, 'Mcp-Name': 'mirrors' }],
      ['a name in Base64 with bits left over', { ...STANDARD, 'Mcp-Name': '=?base64?bWlycm9z?=' }],
    ] as const;
    it.each(all)('refuses %s', async (_, headers) => {
      expect(await send(url, call({}), headers)).toMatchObject(MISMATCH);
    });

    it('come first: a request that breaks both rules is told of them', async () => {
      const { message } = await send(url, call({ text: 'a' }), without('Mcp-Method'));
      expect(message).toMatch(/Mcp-Method/);
      const unsupported = {
        method: 'tools/call',
        params: {
          name: 'mirror',
          arguments: { text: 'a' },
          _meta: { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
        },
      };
      const headers = { ...STANDARD, 'MCP-Protocol-Version': '2099-01-01' };
      expect(await send(url, unsupported, headers)).toMatchObject({ status: 400, code: -32022 });
    });

    it.each(['mirror', 'MIRROR'])('have names without case, and are trimmed (%s)', async name => {
      const headers = {
        'mcp-protocol-version': ' 2026-07-28 ',
        'MCP-METHOD': '  tools/call ',
        'mCp-NaMe': `  ${name.toLowerCase()} `,
      };
      expect(await send(url, call({}), headers)).toMatchObject({ status: 200 });
    });

    it('are checked before anybody is asked about a subscription', async () => {
      Asked.uris = [];
      const notifications = { resourceSubscriptions: ['file:///a%20b?c=d,%20e'] };
      const listen = { method: 'subscriptions/listen', params: { notifications, _meta: ENVELOPE } };
      const { 'Mcp-Name': _, ...headers } = STANDARD;
      expect(await send(url, listen, headers)).toMatchObject(MISMATCH);
      expect(await send(url, listen, { 'MCP-Protocol-Version': '2026-07-28' })).toMatchObject(MISMATCH);
      expect(Asked.uris).toEqual([]);
      const named = { ...headers, 'Mcp-Method': 'subscriptions/listen' };
      expect(await send(url, listen, named)).toMatchObject({ status: 200, code: expect.any(Number), id: 7 });
      expect(Asked.uris).toEqual(notifications.resourceSubscriptions);
    });

    it('are checked on prompts and resources', async () => {
      const read = {
        method: 'resources/read',
        params: { uri: 'file:///a%20b?c=d,%20e', _meta: ENVELOPE },
      };
      const get = {
        method: 'prompts/get',
        params: { name: 'greet', arguments: { name: 'x' }, _meta: ENVELOPE },
      };
      const of = (method: string, name: string) => ({ ...STANDARD, 'Mcp-Method': method, 'Mcp-Name': name });
      expect(await send(url, read, of('resources/read', 'file:///a%20b?c=d,%20e'))).toMatchObject({
        status: 200,
      });
      expect(await send(url, read, of('resources/read', 'file:///other'))).toMatchObject(MISMATCH);
      expect(await send(url, get, of('prompts/get', 'greet'))).toMatchObject({ status: 200 });
      expect(await send(url, get, of('prompts/get', '=?base64?Z3JlZXQ=?='))).toMatchObject({ status: 200 });
      expect(await send(url, get, of('prompts/get', '=?base64?Z3JlZXR=?='))).toMatchObject({
        ...MISMATCH,
        message: expect.stringMatching(/Mcp-Name header is malformed/),
      });
    });
  });

  it('lets guards read the value before the arguments are validated', async () => {
    RegionGuard.seen = [];
    const guarded = (args: object, header: string) =>
      send(url, call(args, 'guarded'), { ...STANDARD, 'Mcp-Name': 'guarded', 'Mcp-Param-Region': header });
    expect(await guarded({ region: 'forbidden', size: 'wrong' }, 'forbidden')).toMatchObject({
      status: 200,
      message: 'Forbidden resource',
    });
    expect(await guarded({ region: 'eu', size: 'wrong' }, 'eu')).toMatchObject({
      text: expect.stringMatching(/size: must be integer/),
    });
    expect(await guarded({ region: 'eu', size: 1 }, 'eu')).toMatchObject({ text: 'eu' });
    expect(RegionGuard.seen).toEqual(['forbidden', 'eu', 'eu']);
  });

  it('checks what was sent, and gives the handler what an interceptor made of it', async () => {
    const { text } = await mirror({ text: 'move me' }, { 'Mcp-Param-Text': 'move me' });
    expect(JSON.parse(text!)).toMatchObject({ text: 'moved', again: 'moved' });
    expect(await mirror({ text: 'move me' }, { 'Mcp-Param-Text': 'moved' })).toMatchObject(MISMATCH);
  });

  it.each(['sessions', 'stateless'] as const)('are nothing to 2025-era requests (%s)', async legacy => {
    const other = await startApp([Mirror], { platform, mcp: { legacy } });
    try {
      const client = await other.client({
        era: 'legacy',
        headers: { 'Mcp-Param-Text': 'spoofed', 'Mcp-Name': 'other', 'Mcp-Method': 'none' },
      });
      const result = await client.callTool({ name: 'mirror', arguments: { text: 'a' } });
      expect(JSON.parse(textOf(result))).toEqual({ text: 'a', again: 'a', era: 'legacy' });
    } finally {
      await other.close();
    }
  });
});
