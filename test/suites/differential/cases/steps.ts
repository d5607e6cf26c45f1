import type { Step } from '../play.js';
import type { Sent } from '../send.js';
import { ANYTHING_OR_NOTHING, ENVELOPE, message, modern, post, type Params } from './request.js';

export const CLIENT = { protocolVersion: '2025-11-25', clientInfo: { name: 'raw', version: '1' } };
const ABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export const initializeWith = (params: unknown, more: Params = {}): Sent =>
  post({ ...message('initialize', params, 0), ...more });

export const INITIALIZE = initializeWith({ ...CLIENT, capabilities: ABILITIES });

const notify = (method: string, params?: unknown): Step => post({ jsonrpc: '2.0', method, params });
export const ask = (method: string, params?: unknown, id: unknown = 1, headers: Params = {}): Step =>
  post(message(method, params, id), headers as Record<string, string>);
export const call = (name: string, args: unknown = {}, id: unknown = 1, _meta?: object): Step =>
  ask('tools/call', { name, arguments: args, _meta }, id);

export const INITIALIZED = notify('notifications/initialized');
export const STREAM: Step = { method: 'GET', headers: { accept: 'text/event-stream' } };
export const END: Step = { method: 'DELETE', headers: {} };
export const PING = ask('ping', undefined, 'ping');
export const cancel = (requestId: unknown) =>
  notify('notifications/cancelled', { requestId, reason: 'test' });
export const headed = (step: Step, headers: Record<string, string>): Step => ({
  ...step,
  headers: { ...step.headers, ...headers },
});

const TOOLS = [
  'seen',
  'numbers',
  'wrongOutput',
  'unsendable',
  'withMeta',
  'conflict',
  'unauthorized',
  'crash',
  'progress',
  'progressThenCrash',
  'progressThenRefuse',
  'logs',
  'askByException',
  'askByAwait',
  'askByReturning',
  'askForState',
  'missing',
  'regional',
];

const METHODS = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'server/discover',
  'unknown',
  'roots/list',
  'interceptors/list',
  'tasks/get',
  'subscriptions/listen',
  '__proto__',
];

const NOTIFICATIONS = [
  'notifications/roots/list_changed',
  'notifications/progress',
  'notifications/none',
  'tools/list',
  'notifications/initialized',
];

/** Requests of a session that can come in any order. */
export const SESSION_STEPS: readonly Step[] = [
  PING,
  ...METHODS.map(method => ask(method, {})),
  ...TOOLS.flatMap(name => [call(name), call(name, {}, 'a', { progressToken: 1 })]),
  call('echo', { text: 'hello' }),
  call('add', { a: 1, b: 2 }),
  ...[-32002, -32020, -32022, -32602, 1].flatMap(code => [
    call('refuse', { code }),
    call('refuseAsSdk', { code }),
  ]),
  ...[
    'config://app',
    'file:///bytes',
    'config://crash',
    'config://missing',
    'config://asking',
    'users://a/b',
    'users://none/b',
    'config://nowhere',
    'not a uri',
  ].flatMap(uri =>
    ['resources/read', 'resources/subscribe', 'resources/unsubscribe'].map(method => ask(method, { uri })),
  ),
  ...['plain', 'explain', 'crashingPrompt', 'askingPrompt', 'missing'].map(name =>
    ask('prompts/get', { name }),
  ),
  ask('completion/complete', {
    ref: { type: 'ref/prompt', name: 'explain' },
    argument: { name: 'topic', value: 't' },
  }),
  ...['debug', 'warning', 'emergency', 'loud'].map(level => ask('logging/setLevel', { level })),
  ...NOTIFICATIONS.flatMap(method => [notify(method), notify(method, {}), notify(method, { requestId: 1 })]),
  cancel(99),
  cancel('x'),
  notify('notifications/cancelled', {}),
  post({ jsonrpc: '2.0', id: 99, result: {} }),
  post({ jsonrpc: '2.0', id: 99, error: { code: 1, message: 'x' } }),
  INITIALIZE,
];

/** One mistake each. */
export const MISTAKES: readonly Step[] = [
  ...ANYTHING_OR_NOTHING.flatMap(value => [
    ask('ping', {}, value),
    ask('ping', value),
    ask('tools/list', value),
    ask('tools/list', { cursor: value }),
    ask('tools/list', { _meta: value }),
    ask('tools/call', { name: value }),
    call('seen', value),
    call('progress', {}, 1, { progressToken: value }),
    ask('logging/setLevel', { level: value }),
    ask('resources/subscribe', { uri: value }),
    ask('resources/unsubscribe', { uri: value }),
    ask('tools/call', { name: 'seen', inputResponses: value, requestState: value }),
    ask('completion/complete', { ref: value, argument: value }),
    notify('notifications/cancelled', { requestId: value }),
    notify('notifications/progress', { progressToken: value, progress: value }),
    post(value === '' ? '""' : (value ?? 'null')),
    post({ jsonrpc: '2.0', id: value, result: {} }),
    post({ jsonrpc: value, id: 1, method: 'ping' }),
    post([message('ping'), value]),
  ]),
  ...[
    '',
    '2025-11-25',
    '2025-06-18',
    '2025-03-26',
    '2024-11-05',
    '2026-07-28',
    '1999-01-01',
    'x',
    ' 2025-11-25 ',
  ].flatMap(version =>
    [PING, call('seen'), INITIALIZED, INITIALIZE].map(step =>
      headed(step, { 'mcp-protocol-version': version }),
    ),
  ),
  ...['', 'application/json', 'text/event-stream', '*/*', 'text/html'].flatMap(accept =>
    [PING, INITIALIZED].map(step => headed(step, { accept })),
  ),
  ...['', 'text/plain', 'application/json; charset=utf-8'].map(type =>
    headed(PING, { 'content-type': type }),
  ),
  ...['x', '00000000-0000-4000-8000-000000000000'].flatMap(id =>
    [PING, INITIALIZED, INITIALIZE, END].map(step => headed(step, { 'mcp-session-id': id })),
  ),
  ...[PING, INITIALIZED, INITIALIZE].map(step => headed(step, { 'mcp-session-id': '' })),
  post('{'),
  post([]),
  post([message('ping')]),
  post([message('ping', {}, 1), message('tools/list', {}, 2)]),
  post([message('ping', {}, 1), message('ping', {}, 1)]),
  post([{ jsonrpc: '2.0', method: 'notifications/initialized' }]),
  post([{ jsonrpc: '2.0', method: 'notifications/initialized' }, message('ping')]),
  post([{ jsonrpc: '2.0', id: 9, result: {} }, message('ping')]),
  post([message('ping'), message('initialize', { ...CLIENT, capabilities: {} }, 2)]),
  post([message('ping'), message('tools/list', { _meta: ENVELOPE }, 2)]),
  post(Array.from({ length: 100 }, (_, id) => message('ping', {}, id))),
  post(Array.from({ length: 101 }, (_, id) => message('ping', {}, id))),
  modern('tools/list'),
  modern('tools/call', { name: 'seen' }),
  { method: 'PUT', headers: {} },
  { method: 'GET', headers: { accept: 'application/json' } },
];
