import type { Sent } from '../send.js';

export const VERSION = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT = 'io.modelcontextprotocol/clientInfo';
export const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** A client that can do everything, and wants to be told everything. */
export const ENVELOPE = {
  [VERSION]: '2026-07-28',
  [CLIENT]: { name: 'raw', version: '1' },
  [CAPABILITIES]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
};

export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** A value of every type. */
export const ANYTHING: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  '',
  'x',
  '2026-07-28',
  [],
  ['x'],
  [{}],
  {},
  { x: 1 },
];

/** A value of every type, and none at all. */
export const ANYTHING_OR_NOTHING = [...ANYTHING, undefined];

type Headers = Record<string, string | readonly string[] | undefined>;
export type Params = Record<string, unknown>;

/** Sends JSON, or a text as it is. A header that is undefined is left out. */
export function post(body: unknown, headers: Headers = {}): Sent {
  const all: [string, Headers[string]][] = Object.entries({ ...JSON_HEADERS, ...headers });
  return {
    method: 'POST',
    headers: Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

export const message = (method: unknown, params?: unknown, id: unknown = 1): Params => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** The headers that a request of 2026-07-28 needs. */
export function standardHeaders(method: string, params: Params): Record<string, string> {
  const name = Object.hasOwn(NAMED, method) ? params[NAMED[method]] : undefined;
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': encoded(name) }),
  };
}

/** As SEP-2243 has it. */
export const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const encoded = (text: string) => (/^[\x21-\x7e]*$/.test(text) ? text : base64(text));

/** A request of 2026-07-28, with everything that it needs. */
export const modern = (method: string, params: Params = {}, headers: Headers = {}): Sent =>
  post(message(method, { _meta: ENVELOPE, ...params }), { ...standardHeaders(method, params), ...headers });

/** The same with more in its envelope; what is undefined is left out. */
export const modernWith = (envelope: Params, method: string, params: Params = {}): Sent =>
  modern(method, { ...params, _meta: { ...ENVELOPE, ...envelope } });

export const callTool = (name: unknown, args?: unknown, params: Params = {}, headers: Headers = {}): Sent =>
  modern('tools/call', { name, ...(args !== undefined && { arguments: args }), ...params }, headers);
