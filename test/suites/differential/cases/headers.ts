import type { Sent } from '../send.js';
import {
  ANYTHING,
  base64,
  callTool,
  ENVELOPE,
  JSON_HEADERS,
  message,
  modern,
  post,
  standardHeaders,
} from './request.js';

const VERSIONS = [
  undefined,
  '',
  '2025-11-25',
  '2026-07-29',
  'x',
  ' 2026-07-28 ',
  ['2026-07-28', '2026-07-28'],
];
const METHODS = [
  undefined,
  '',
  'tools/list',
  'TOOLS/CALL',
  ' tools/call ',
  base64('tools/call'),
  ['tools/call', 'x'],
];
const NAMES = [
  undefined,
  '',
  'other',
  'ECHO',
  ' echo ',
  base64('echo'),
  base64('other'),
  '=?base64?ZWNobw?=',
  '=?base64?ZWNobx==?=',
  '=?base64?!!!?=',
  '=?BASE64?ZWNobw==?=',
  '=?base64??=',
  ['echo', 'echo'],
  ['echo', 'other'],
];
const PARAMS = [
  undefined,
  '',
  'eu',
  'EU',
  ' eu ',
  base64('eu'),
  base64('us'),
  base64(''),
  '=?base64?ZXU?=',
  '1',
  'true',
  '1.0',
  '1e0',
  '01',
  ['eu', 'eu'],
];

/** Every header that is missing, wrong, twice there or written in another way. */
export const HEADER_CASES: readonly Sent[] = [
  ...VERSIONS.flatMap(value =>
    ['tools/call', 'tools/list', 'server/discover', 'ping'].flatMap(method => [
      modern(method, { name: 'echo', arguments: { text: 'x' } }, { 'mcp-protocol-version': value }),
      post(message(method, { name: 'echo' }), { 'mcp-protocol-version': value }),
    ]),
  ),
  ...METHODS.map(value => callTool('echo', { text: 'x' }, {}, { 'mcp-method': value })),
  ...NAMES.flatMap(value => [
    callTool('echo', { text: 'x' }, {}, { 'mcp-name': value }),
    modern('prompts/get', { name: 'echo' }, { 'mcp-name': value }),
    modern('tools/list', {}, { 'mcp-name': value }),
    modern('resources/read', { uri: 'echo' }, { 'mcp-name': value }),
  ]),
  ...['naïve', '=?base64?x?=', ' x', 'x '].flatMap(name => [
    modern('prompts/get', { name }),
    modern('prompts/get', { name }, { 'mcp-name': base64(name) }),
    modern('prompts/get', { name }, { 'mcp-name': Buffer.from(name).toString('latin1') }),
  ]),
  ...PARAMS.flatMap(value => [
    callTool('regional', { region: 'eu' }, {}, { 'mcp-param-region': value }),
    callTool('regional', { size: 1 }, {}, { 'mcp-param-size': value }),
    callTool('regional', { urgent: true }, {}, { 'mcp-param-urgent': value }),
    callTool('regional', { place: { zone: 'eu' } }, {}, { 'mcp-param-zone': value }),
    callTool('regional', {}, {}, { 'mcp-param-region': value }),
    callTool('regional', undefined, {}, { 'mcp-param-region': value }),
    callTool('echo', { text: 'x' }, {}, { 'mcp-param-text': value }),
  ]),
  ...ANYTHING.flatMap(value => [
    callTool('regional', { region: value }, {}, { 'mcp-param-region': String(value) }),
    callTool('regional', { size: value }, {}, { 'mcp-param-size': String(value) }),
    callTool('regional', { urgent: value, place: value }, {}, { 'mcp-param-urgent': String(value) }),
  ]),
  callTool('regional', { size: 2 ** 53 }, {}, { 'mcp-param-size': String(2 ** 53) }),
  callTool('regional', { region: 'é' }, {}, { 'mcp-param-region': Buffer.from('é').toString('latin1') }),
  callTool('regional', { region: '\uFEFFx' }, {}, { 'mcp-param-region': base64('\uFEFFx') }),
];

const CONTENT_TYPES = [
  undefined,
  '',
  'text/plain',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/jsonx',
  'application/json, text/plain',
  'multipart/form-data',
];
const ACCEPTS = [
  undefined,
  '',
  '*/*',
  'application/json',
  'text/event-stream',
  'text/html',
  'application/*',
  'text/event-stream;q=0, application/json',
  'APPLICATION/JSON, TEXT/EVENT-STREAM',
];

/** What stands around a body: how it is sent, what it is called, what the client takes. */
export const HTTP_CASES: readonly Sent[] = [
  post('{', { accept: undefined }),
  post(message('tools/list'), { accept: undefined, 'content-type': 'text/plain' }),
  modern('unknown', { inputResponses: 1 }),
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].flatMap((method): Sent[] => [
    { method, headers: {} },
    { method, headers: { accept: 'text/event-stream' } },
    { method, headers: { ...JSON_HEADERS, ...standardHeaders('tools/list', {}) } },
  ]),
  ...CONTENT_TYPES.flatMap(type => [
    modern('tools/list', {}, { 'content-type': type }),
    post(message('tools/list'), { 'content-type': type }),
  ]),
  ...ACCEPTS.flatMap(accept => [
    modern('tools/list', {}, { accept }),
    post(message('tools/list'), { accept }),
    callTool('progress', {}, { _meta: { ...ENVELOPE, progressToken: 1 } }, { accept }),
  ]),
  ...['http://evil.example.com', 'http://localhost', 'null'].map(origin =>
    modern('tools/list', {}, { origin }),
  ),
];
