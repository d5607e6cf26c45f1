import type { Client } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { getMcpClientToken, McpClientModule, type McpClient } from 'nestjs-mcp/client';
import { Test } from '@nestjs/testing';
import type { INestApplication } from '@nestjs/common';
import { PLATFORMS, startApp, type TestApp } from '../fixtures/matrix.js';
import { soakSize } from '../fixtures/soak.js';
import { call, Mirror, send, STANDARD } from './support.js';
import { encodeHeader } from '../../lib/headers/header-value.js';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  // Halves of surrogate pairs, and the byte order mark.
  fc.array(fc.integer({ min: 0, max: 0xffff })).map(units => String.fromCharCode(...units)),
  fc.constantFrom(
    '',
    ' ',
    '\t',
    'a\tb',
    '\ufeff',
    '\ufeffa',
    '=?base64?',
    '=?base64??=',
    '=?base64?=',
    '\ud800',
  ),
  fc.string().map(text => `=?base64?${text}?=`),
);
const anyArguments = fc.record(
  {
    text: anyText,
    count: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, 2 ** 53 - 1, 1 - 2 ** 53)),
    flag: fc.boolean(),
    place: fc.record({ region: anyText }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

type Arguments = typeof anyArguments extends fc.Arbitrary<infer T> ? T : never;

/** What a call of these arguments has to carry. */
function headersOf({ text, count, flag, place }: Arguments): Record<string, string> {
  const values = { Text: text, Count: count, Flag: flag, Region: place?.region };
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return {
    ...STANDARD,
    ...Object.fromEntries(present.map(([name, value]) => [`Mcp-Param-${name}`, encodeHeader(String(value))])),
  };
}

/** The calls of each property; a quarter of them where a header is left out. */
const CALLS = soakSize(300, 60);

/** Hundreds of requests, however slow the machine. */
const TIMEOUT_MS = 60_000;

describe.each(PLATFORMS)('on %s', platform => {
  let server: TestApp;
  let clients: INestApplication;
  let client: McpClient;
  let official: Client;
  let url: string;
  beforeAll(async () => {
    server = await startApp([Mirror], { platform });
    url = await server.url();
    const testing = await Test.createTestingModule({
      imports: [McpClientModule.register([{ name: 'mirror', url, era: 'modern' }])],
    }).compile();
    clients = testing.createNestApplication();
    clients.useLogger(false);
    await clients.init();
    client = clients.get<McpClient>(getMcpClientToken('mirror'), { strict: false });
    await client.listTools();
    official = await server.client();
    await official.listTools();
  });
  afterAll(async () => {
    await clients?.close();
    await server?.close();
  });

  it.each([
    ['the client', () => client],
    ['the official client', () => official],
  ])(
    'takes whatever %s sends, and hands it to the handler unchanged',
    async (_, sender) => {
      await fc.assert(
        fc.asyncProperty(anyArguments, async args => {
          const { isError } = await sender().callTool({ name: 'mirror', arguments: args });
          expect(isError).toBeFalsy();
          const { text, count, flag, place } = args;
          expect(server.app.get(Mirror).last).toEqual({ args, text, count, flag, region: place?.region });
        }),
        { numRuns: CALLS },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'refuses a call with one byte of one header changed',
    async () => {
      const printable = fc.integer({ min: 0x20, max: 0xff }).filter(byte => byte !== 0x7f);
      await fc.assert(
        fc.asyncProperty(anyArguments, fc.nat(), fc.nat(), printable, async (args, which, where, byte) => {
          const headers = headersOf(args);
          const names = Object.keys(headers).filter(name => headers[name] !== '');
          const name = names[which % names.length];
          const value = headers[name];
          const at = where % value.length;
          const changed = value.slice(0, at) + String.fromCharCode(byte) + value.slice(at + 1);
          fc.pre(changed !== value);
          const calls = server.app.get(Mirror).calls.length;
          const { status, code } = await send(url, call(args), { ...headers, [name]: changed });
          expect({ name, changed, status, code }).toEqual({
            name,
            changed,
            status: 400,
            code: expect.any(Number),
          });
          expect([-32020, -32022]).toContain(code);
          expect(server.app.get(Mirror).calls).toHaveLength(calls);
        }),
        { numRuns: CALLS },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'refuses a call with one header left out',
    async () => {
      await fc.assert(
        fc.asyncProperty(anyArguments, fc.nat(), async (args, which) => {
          const headers = headersOf(args);
          const names = Object.keys(headers);
          delete headers[names[which % names.length]];
          expect(await send(url, call(args), headers)).toMatchObject({ status: 400, code: -32020 });
        }),
        { numRuns: CALLS / 4 },
      );
    },
    TIMEOUT_MS,
  );
});
