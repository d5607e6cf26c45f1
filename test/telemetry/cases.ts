import type { Client } from '@modelcontextprotocol/client';
import type { SpanCase } from './conventions.js';

/** A request, and the server span that it is to have. */
export interface Case {
  readonly what: string;
  readonly send: (client: Client) => Promise<unknown>;
  readonly span: Omit<SpanCase, 'kind'>;
  /** Where the method exists, if not in both. */
  readonly era?: 'modern' | 'legacy';
  /** Whether it needs a connection or a session. */
  readonly isOfSession?: true;
}

const ANY = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const;

const request =
  (method: string, params: Record<string, unknown> = {}) =>
  (client: Client): Promise<unknown> =>
    client.request({ method, params }, ANY);

const INVALID = { errorType: '-32602', statusCode: '-32602' };
const LISTS = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'interceptors/list',
];

const tool = (what: string, name: string, span: Partial<SpanCase> = {}): Case => ({
  what,
  send: client => client.callTool({ name, arguments: { text: 'hello' } }),
  span: { method: 'tools/call', tool: name, ...span },
});

const prompt = (what: string, name: string, span: Partial<SpanCase> = {}): Case => ({
  what,
  send: request('prompts/get', { name }),
  span: { method: 'prompts/get', prompt: name, ...span },
});

const resource = (method: string, uri: string, what: string, more: Partial<Case & SpanCase> = {}): Case => {
  const { era, isOfSession, ...span } = more;
  return { what, send: request(method, { uri }), span: { method, uri, ...span }, era, isOfSession };
};

const complete = (name: string) =>
  request('completion/complete', {
    ref: { type: 'ref/prompt', name },
    argument: { name: 'who', value: 'a' },
  });

const invoke = (name: string) =>
  request('interceptor/invoke', {
    name,
    event: 'tools/call',
    phase: 'request',
    payload: { name: 'echo' },
  });

/** Every method that a client can send, but the handshakes, with the ways in which it can end. */
export const CASES: readonly Case[] = [
  ...LISTS.flatMap(method => [
    { what: method, send: request(method), span: { method } },
    {
      what: `${method} with a wrong cursor`,
      send: request(method, { cursor: 'none' }),
      span: { method, ...INVALID },
    },
  ]),
  tool('a tool', 'echo'),
  tool('a tool that fails', 'broken', { errorType: 'tool_error' }),
  tool('a tool that is refused', 'refused', {
    errorType: '-32000',
    statusCode: '-32000',
    message: 'Not now',
  }),
  tool('a tool that does not exist', 'nowhere', {
    isKnown: false,
    ...INVALID,
    message: 'Unknown tool: nowhere',
  }),
  prompt('a prompt', 'greet'),
  prompt('a prompt that fails', 'fails', {
    errorType: '-32603',
    statusCode: '-32603',
    message: expect.stringMatching(/^Internal error \(reference [\da-f-]{36}\)$/) as string,
  }),
  prompt('a prompt that does not exist', 'nowhere', {
    isKnown: false,
    ...INVALID,
    message: 'Unknown prompt: nowhere',
  }),
  resource('resources/read', 'config://app', 'a resource'),
  resource('resources/read', 'config://broken', 'a resource that fails', {
    errorType: '-32603',
    statusCode: '-32603',
  }),
  resource('resources/read', 'config://none', 'a resource that does not exist in 2026', {
    ...INVALID,
    era: 'modern',
  }),
  resource('resources/read', 'config://none', 'a resource that does not exist in 2025', {
    errorType: '-32002',
    statusCode: '-32002',
    era: 'legacy',
  }),
  resource('resources/subscribe', 'config://app', 'a subscription', {
    era: 'legacy',
    isOfSession: true,
  }),
  resource('resources/unsubscribe', 'config://app', 'the end of a subscription', {
    era: 'legacy',
    isOfSession: true,
  }),
  { what: 'a completion', send: complete('named'), span: { method: 'completion/complete' } },
  {
    what: 'a completion of a prompt that does not exist',
    send: complete('nowhere'),
    span: { method: 'completion/complete', ...INVALID },
  },
  { what: 'an invocation', send: invoke('looks'), span: { method: 'interceptor/invoke' } },
  {
    what: 'an invocation of an interceptor that does not exist',
    send: invoke('nowhere'),
    span: { method: 'interceptor/invoke', ...INVALID },
  },
  { what: 'a ping', send: request('ping'), span: { method: 'ping' }, era: 'legacy' },
  {
    what: 'a log level',
    send: request('logging/setLevel', { level: 'error' }),
    span: { method: 'logging/setLevel' },
    era: 'legacy',
  },
  {
    what: 'a log level that does not exist',
    send: request('logging/setLevel', { level: 'none' }),
    span: { method: 'logging/setLevel', errorType: '-32603', statusCode: '-32603' },
    era: 'legacy',
  },
  {
    what: 'server/discover',
    send: request('server/discover'),
    span: { method: 'server/discover' },
    era: 'modern',
  },
  {
    what: 'a method that does not exist',
    send: request('none/such'),
    span: { method: '_OTHER', errorType: '-32601', statusCode: '-32601' },
  },
];

/** The cases of an era. @param hasSession whether there is a session, or a connection */
export const casesOf = (era: 'modern' | 'legacy', hasSession: boolean): readonly Case[] =>
  CASES.filter(one => (one.era ?? era) === era && (hasSession || !one.isOfSession));
