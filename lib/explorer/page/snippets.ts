import type { CallTrace, Caller } from '../api.js';
import { isRecord, textOf, type Json } from './values.js';

export interface Answered {
  readonly method: string;
  readonly message: string;
  readonly answer: unknown;
}

/** A call as the user made it, with the answers that he gave. */
export interface Called {
  readonly server: string;
  readonly url: string;
  readonly method: string;
  readonly params: Json;
  /** The field of the params of an extension's method that the `Mcp-Name` header repeats. */
  readonly nameHeader?: unknown;
  /** Input schema of the tool: it says which arguments are also headers. */
  readonly schema?: unknown;
  readonly caller: Caller['kind'];
  readonly revision: string;
  readonly answers: readonly Answered[];
  readonly trace?: CallTrace;
}

const VERBS: Readonly<Record<string, string>> = {
  'tools/call': 'callTool',
  'prompts/get': 'getPrompt',
  'resources/read': 'readResource',
};

/** What a call names, in the `Mcp-Name` header. */
function nameIn({ method, params, nameHeader }: Called): unknown {
  if (method in VERBS) return params['name'] ?? params['uri'];
  return typeof nameHeader === 'string' ? params[nameHeader] : undefined;
}

/** The revision of requests without a session. */
export const REVISION = '2026-07-28';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A text as a header's value (SEP-2243). */
export function headerValue(value: unknown): string {
  const text = String(value);
  const isPlain = /^(?! )[\x20-\x7e]*(?<! )$/.test(text);
  if (isPlain && !(text.startsWith('=?base64?') && text.endsWith('?='))) return text;
  return `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;
}

/** The arguments that a client also sends as headers. */
function* headerParams(schema: unknown, value: unknown): Generator<readonly [string, string]> {
  if (!isRecord(schema) || !isRecord(schema['properties']) || !isRecord(value)) return;
  for (const [name, field] of Object.entries(schema['properties'])) {
    const argument = value[name];
    if (!isRecord(field) || argument === undefined || argument === null) continue;
    const header = field['x-mcp-header'];
    if (typeof header === 'string') yield [`Mcp-Param-${header}`, headerValue(argument)];
    yield* headerParams(field, argument);
  }
}

/** The first round of a call as a command line. A token stays out of it. */
export function curlOf(called: Called): string {
  const { url, method, params, schema, caller } = called;
  const named = nameIn(called);
  const meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
  const headers = [
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
    ['MCP-Protocol-Version', REVISION],
    ['Mcp-Method', method],
    ...(named === undefined ? [] : [['Mcp-Name', headerValue(named)]]),
    ...headerParams(schema, params['arguments']),
  ];
  // curl sends an empty header only if it ends with a semicolon.
  const lines = headers.map(
    ([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`,
  );
  if (caller === 'token') lines.push('-H "Authorization: Bearer $TOKEN"');
  return [`curl -sS ${quoted(url)}`, ...lines, `--data-raw ${quoted(JSON.stringify(body))}`].join(' \\\n  ');
}

/** The configuration of a client that reaches the server, in the form that most hosts read. */
export function configurationOf({ server, url, caller }: Called): string {
  const headers = caller === 'token' ? { headers: { Authorization: 'Bearer ${TOKEN}' } } : {};
  return JSON.stringify({ mcpServers: { [server]: { type: 'http', url, ...headers } } }, null, 2);
}

const literal = (value: unknown, indent: string): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);

/** The call as a test of the application, which expects what was last answered. */
export function testOf(called: Called): string {
  const { server, method, params, caller, revision, answers, trace } = called;
  const named = nameIn(called);
  const isOwn = !(method in VERBS);
  const call = isOwn
    ? `client.request(${literal({ method, params }, '  ')}, z.looseObject({}))`
    : `client.${VERBS[method]}(${literal(params, '  ')})`;
  const options = [
    `server: ${JSON.stringify(server)}`,
    ...(revision < REVISION ? ["era: 'legacy'"] : []),
    ...(caller === 'token' ? ['headers: { authorization: `Bearer ${process.env.TOKEN}` }'] : []),
    ...handlersFor(answers),
  ];
  return [
    "import { Test } from '@nestjs/testing';",
    "import { createTestClient } from 'nestjs-mcp/testing';",
    ...(isOwn ? ["import { z } from 'zod';"] : []),
    "import { AppModule } from './app.module.js';",
    '',
    `it(${JSON.stringify(`answers ${method}${named === undefined ? '' : ` of ${textOf(named)}`}`)}, async () => {`,
    '  const module = await Test.createTestingModule({ imports: [AppModule] }).compile();',
    '  const app = module.createNestApplication();',
    '  const client = await createTestClient(app, {',
    ...options.map(option => `    ${option},`),
    '  });',
    `  const answer: unknown = await ${call}${trace?.outcome === 'error' ? '.catch((error: unknown) => error)' : ''};`,
    '  await client.close();',
    '  await app.close();',
    `  expect(answer).${matcher(trace)};`,
    '});',
    '',
  ].join('\n');
}

function handlersFor(answers: readonly Answered[]): string[] {
  const of = (method: string) => answers.filter(answered => answered.method === method);
  const forms = new Map(of('elicitation/create').map(({ message, answer }) => [message, answer]));
  const sample = of('sampling/createMessage').at(-1);
  const roots = of('roots/list').at(-1);
  return [
    ...(forms.size > 0 ? [elicitHandler(forms)] : []),
    ...(sample ? [`onSample: () => (${literal(sample.answer, '    ')})`] : []),
    ...(roots ? [`onRoots: () => (${literal(roots.answer, '    ')})`] : []),
  ];
}

const elicitHandler = (forms: ReadonlyMap<string, unknown>): string =>
  [
    'onElicit: ({ message }) => {',
    ...[...forms].map(
      ([message, answer]) =>
        `      if (message === ${JSON.stringify(message)}) return ${literal(answer, '      ')};`,
    ),
    '      throw new Error(`It also asked: ${message}`);',
    '    }',
  ].join('\n');

function matcher(trace: CallTrace | undefined): string {
  if (trace?.outcome === 'error' && trace.error) {
    const { code, message } = trace.error;
    return `toMatchObject(${literal({ code, message }, '  ')})`;
  }
  if (trace?.outcome !== 'result' || !isRecord(trace.result?.value)) return 'toBeDefined()';
  const { _meta: _, resultType: __, ...result } = trace.result.value;
  return `toMatchObject(${literal(result, '  ')})`;
}

/** What a call can be copied as. */
export const SNIPPETS: Readonly<Record<string, (called: Called) => string>> = {
  curl: curlOf,
  test: testOf,
  'client configuration': configurationOf,
};
