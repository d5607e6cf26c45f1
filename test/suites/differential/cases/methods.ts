import type { Sent } from '../send.js';
import {
  ANYTHING,
  ANYTHING_OR_NOTHING,
  callTool,
  message,
  modern,
  post,
  standardHeaders,
} from './request.js';

/** Calls of every tool that ends by itself. */
const TOOLS: [string, unknown?][] = [
  ['echo', { text: 'hello' }],
  ['echo', { text: 'hello', more: 1 }],
  ['echo', { text: 1 }],
  ['echo', {}],
  ['echo'],
  ['order', { item: 'pen', count: 2 }],
  ['order', { item: 'pen', count: 11 }],
  ['order', { item: 'pen', count: '2', more: 1 }],
  ['seen', { a: [1, { b: null }] }],
  ['add', { a: 1, b: 2 }],
  ['numbers'],
  ['wrongOutput'],
  ['unsendable'],
  ['withMeta'],
  ['conflict'],
  ['unauthorized'],
  ['crash'],
  ['progress'],
  ['progressThenCrash'],
  ['progressThenRefuse'],
  ['logs'],
  ['askByException', {}],
  ['askByAwait', {}],
  ['askByReturning', {}],
  ['askForState', {}],
  ['missing'],
  ['__proto__'],
  ['constructor'],
  [''],
  [' echo '],
  ['e'.repeat(300)],
];

const CODES = [
  -32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32020, -32021, -32022, -32042, 1, 0, 404,
];

const URIS = [
  'config://app',
  'file:///bytes',
  'config://crash',
  'config://missing',
  'config://asking',
  'users://ada/name',
  'users://none/name',
  'users://ada',
  'users://a%20b/%C3%A9',
  'config://nowhere',
  'not a uri',
  '',
  'test://static-text',
];

const PROMPTS: [string, unknown?][] = [
  ['plain'],
  ['naïve'],
  ['plain', { more: 'x' }],
  ['explain', { topic: 'tides' }],
  ['explain', { topic: 'tides', tone: 'gently' }],
  ['explain', { topic: 1 }],
  ['explain'],
  ['crashingPrompt'],
  ['askingPrompt'],
  ['missing'],
];

const EXPLAIN = { type: 'ref/prompt', name: 'explain' };
const USERS = { type: 'ref/resource', uri: 'users://{id}/{part}' };
const COMPLETIONS = [
  { ref: EXPLAIN, argument: { name: 'topic', value: 'ti' } },
  { ref: EXPLAIN, argument: { name: 'tone', value: '' } },
  { ref: EXPLAIN, argument: { name: 'none', value: '' } },
  { ref: USERS, argument: { name: 'id', value: '7' }, context: { arguments: { part: 'name' } } },
  { ref: { type: 'ref/prompt', name: 'missing' }, argument: { name: 'a', value: '' } },
  { ref: { type: 'ref/resource', uri: 'missing://{a}' }, argument: { name: 'a', value: '' } },
  { ref: { type: 'ref/tool', name: 'echo' }, argument: { name: 'a', value: '' } },
  ...ANYTHING_OR_NOTHING.flatMap(value => [
    { ref: value, argument: { name: 'topic', value: 't' } },
    { ref: EXPLAIN, argument: value },
    { ref: EXPLAIN, argument: { name: value, value: 't' } },
    { ref: EXPLAIN, argument: { name: 'topic', value } },
    { ref: EXPLAIN, argument: { name: 'topic', value: 't' }, context: value },
  ]),
];

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

/** Methods of other revisions, of clients, of extensions and of nobody. */
const OTHERS = [
  'ping',
  'initialize',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'interceptors/list',
  'interceptor/invoke',
  'tasks/get',
  'tasks/list',
  'tasks/cancel',
  'tools/List',
  'tools/list ',
  'tools',
  '',
  '__proto__',
  'constructor',
  'toString',
  'notifications/progress',
  'rpc.discover',
];

const NOTIFICATIONS = [
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/message',
  'notifications/none',
  'tools/list',
  '',
];

const LISTENED = [
  {},
  { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
  { toolsListChanged: 1 },
  { resourceSubscriptions: ['config://app'] },
  { resourceSubscriptions: ['config://app', 'config://nowhere'] },
  { resourceSubscriptions: ['not a uri'] },
  ...ANYTHING.map(resourceSubscriptions => ({ resourceSubscriptions })),
];

/** Every method, with params that are right and params of every wrong type. */
export const METHOD_CASES: readonly Sent[] = [
  ...TOOLS.map(([name, args]) => callTool(name, args)),
  ...CODES.flatMap(code => [callTool('refuse', { code }), callTool('refuseAsSdk', { code })]),
  ...ANYTHING_OR_NOTHING.flatMap(value => [
    callTool(value, {}),
    callTool('echo', value),
    callTool('seen', value),
  ]),
  ...PROMPTS.map(([name, args]) => modern('prompts/get', { name, arguments: args })),
  ...ANYTHING_OR_NOTHING.flatMap(value => [
    modern('prompts/get', { name: value }),
    modern('prompts/get', { name: 'explain', arguments: value }),
    modern('prompts/get', { name: 'explain', arguments: { topic: value } }),
    modern('resources/read', { uri: value }),
  ]),
  ...URIS.map(uri => modern('resources/read', { uri })),
  ...COMPLETIONS.map(params => modern('completion/complete', params)),
  ...LISTS.flatMap(method => ANYTHING_OR_NOTHING.map(cursor => modern(method, { cursor }))),
  modern('server/discover'),
  ...ANYTHING.map(value => modern('server/discover', { value })),
  ...OTHERS.flatMap(method => [
    modern(method),
    post(message(method, {}), standardHeaders(method, {})),
    post(message(method, {}), { 'mcp-protocol-version': '2025-11-25' }),
    post(message(method, {})),
  ]),
  ...NOTIFICATIONS.flatMap(method => {
    const { id: _id, ...notification } = message(method, {});
    const { params: _params, ...bare } = notification;
    return [notification, bare].flatMap(body => [
      post(body, standardHeaders(method, {})),
      post(body, { ...standardHeaders(method, {}), 'mcp-method': 'notifications/other' }),
      post(body, { 'mcp-protocol-version': '2025-11-25' }),
      post(body),
    ]);
  }),
  modern('subscriptions/listen'),
  ...LISTENED.map(notifications => modern('subscriptions/listen', { notifications })),
  ...ANYTHING.map(notifications => modern('subscriptions/listen', { notifications })),
];
