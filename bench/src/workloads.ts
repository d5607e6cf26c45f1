import type { Era, Platform, Setup } from './contenders/setup.js';
import { CALL } from './interceptors.js';
import { AUDIENCE, ISSUER, JWKS, TOKEN } from './bearer.js';
import { ANSWER } from './mrtr-question.js';
import type { Call } from './requests.js';
import type { Comparison, Contender, Workload } from './types.js';

const MODERN: Era = '2026-07-28';
const SESSION: Era = '2025-11-25';

const text = 'Ring twice, please';
const ECHO: Call = { method: 'tools/call', params: { name: 'echo', arguments: { text } }, says: text };
const LIST: Call = { method: 'tools/list', params: {}, says: '"name":"echo"' };
const SEARCH: Call = {
  method: 'tools/call',
  params: { name: 'search_tools', arguments: { query: 'find the products of shelf 512' } },
  says: 'search_512',
};
const ORDER: Call = {
  method: 'tools/call',
  params: CALL,
  says: 'An order of Ada Lovelace',
};
/** Answered over an event stream, whose events a session keeps. */
const REPORT: Call = { ...ORDER, params: { ...ORDER.params, name: 'report', _meta: { progressToken: 1 } } };
const WORK: Call = { ...ORDER, params: { ...ORDER.params, name: 'work' }, says: '"task"', isTask: true };
const ASK: Call = { ...ORDER, params: { ...ORDER.params, name: 'ask' }, says: '"input_required"' };

const contender = (
  program: Contender['program'],
  call: Call,
  { platform = 'express', era = MODERN, tools = 1, ...more }: Partial<Setup> = {},
): Contender => ({ program, setup: { platform, era, tools, ...more }, call });

/** The speed by CPU time of the server, and by the clock. */
const speed = (subject: string, baseline: string, least?: number, aim?: number): Comparison[] => [
  { figure: 'cpuUs', subject, baseline, bound: { least }, aim },
  { figure: 'rps', subject, baseline },
];

/** Latency and memory under the load of a workload, over those of bare Nest. */
const UNDER_LOAD: readonly Comparison[] = [
  ...(['p99Ms', 'rssMb'] as const).map(figure => ({ figure, subject: 'ours', baseline: 'bare' })),
  { figure: 'heapMb', subject: 'ours', baseline: 'bare', bound: { most: 0, orMore: 8 } },
];

function echo(
  platform: Platform,
  era: Era,
  others: readonly ('sdk' | 'peer')[],
  comparisons: Comparison[],
): Workload {
  const programs = ['bare', 'ours', ...others] as const;
  return {
    name: `${era === SESSION ? 'call in a 2025 session' : 'tools/call'}, ${platform}`,
    quick: platform !== 'node',
    contenders: Object.fromEntries(
      programs.map(program => [program, contender(program, ECHO, { platform, era })]),
    ),
    comparisons: [...comparisons, ...UNDER_LOAD],
  };
}

/** A server that checks tokens, and keeps a verified token for so long. */
const protectedFor = (tokenCacheMs: number): Contender => {
  const auth = { issuer: ISSUER, audience: AUDIENCE, jwks: JWKS, tokenCacheMs };
  return contender('ours', ECHO, { platform: 'fastify', token: TOKEN, auth });
};

const list = (tools: number, ...others: 'peer'[]): Workload => ({
  name: `tools/list of ${tools}`,
  quick: tools === 100,
  contenders: Object.fromEntries(
    (['bare', 'ours', ...others] as const).map(program => [program, contender(program, LIST, { tools })]),
  ),
  comparisons: [...speed('ours', 'bare', 1, 2), ...others.flatMap(other => speed('ours', other))],
});

/** The same with `McpRedisModule` and without it. */
const shared = (
  name: string,
  call: Call,
  least: number,
  { platform = 'fastify', ...setup }: Partial<Setup>,
): Workload => ({
  name: `${name}, ${platform}, Redis`,
  needsRedis: true,
  contenders: {
    'in memory': contender('ours', call, { ...setup, platform }),
    'with Redis': contender('ours', call, { ...setup, platform, redis: true }),
  },
  comparisons: [
    ...speed('with Redis', 'in memory', least, 1),
    { figure: 'p99Ms', subject: 'with Redis', baseline: 'in memory' },
  ],
});

/** The same with `McpTelemetryModule` and without it. No OpenTelemetry SDK is registered. */
const observed = (name: string, setup: Pick<Setup, 'platform' | 'era'>): Workload => ({
  name: `${name}, ${setup.platform}, telemetry`,
  contenders: {
    'without telemetry': contender('ours', ECHO, setup),
    'with telemetry': contender('ours', ECHO, { ...setup, telemetry: true }),
  },
  comparisons: speed('with telemetry', 'without telemetry', 0.97, 1),
});

/** Creating a task and its first poll, as a multiple of a call. */
const tasks = (name: string, most: number, setup: Partial<Setup>): Workload => ({
  name,
  needsRedis: setup.redis,
  contenders: {
    plain: contender('ours', ORDER, { feature: 'tasks', tasks: true, ...setup }),
    'a task and its poll': contender('ours', WORK, { feature: 'tasks', tasks: true, ...setup }),
  },
  comparisons: speed('a task and its poll', 'plain', 1 / most),
});

/** What a client posts that has been asked where to send its order. */
function answerOf(answer: string): Call {
  const { result } = JSON.parse(answer) as { result: { requestState: string } };
  const answered = { requestState: result.requestState, inputResponses: { region: ANSWER } };
  return { ...ORDER, params: { ...ASK.params, ...answered } };
}

/** A call that passes through the process that is measured. */
const proxy = (program: 'bare' | 'ours'): Contender => contender(program, ECHO, { isProxy: true });

export const WORKLOADS: readonly Workload[] = [
  echo(
    'express',
    MODERN,
    ['sdk', 'peer'],
    [...speed('ours', 'bare', 0.95, 1), ...speed('ours', 'peer', 2.5, 3), ...speed('ours', 'sdk', 2.2)],
  ),
  echo('fastify', MODERN, ['peer'], [...speed('ours', 'bare', 0.58, 0.65), ...speed('ours', 'peer', 5, 6)]),
  echo('node', MODERN, [], speed('ours', 'bare')),
  echo(
    'express',
    SESSION,
    ['sdk', 'peer'],
    [...speed('ours', 'bare', 0.85, 0.95), ...speed('ours', 'peer', 1.3, 1.5), ...speed('ours', 'sdk')],
  ),
  echo('fastify', SESSION, ['peer'], [...speed('ours', 'bare', 0.55, 0.65), ...speed('ours', 'peer')]),
  echo('node', SESSION, [], speed('ours', 'bare')),
  {
    name: '2025 call without a session, express',
    quick: true,
    contenders: {
      bare: contender('bare', ECHO, { era: SESSION }),
      ours: contender('ours', ECHO, { era: SESSION, legacy: 'stateless' }),
    },
    comparisons: speed('ours', 'bare', 0.75, 0.9),
  },
  {
    name: 'guard and DTO',
    quick: true,
    contenders: {
      bare: contender('bare', ORDER, { feature: 'guarded' }),
      ours: contender('ours', ORDER, { feature: 'guarded' }),
    },
    comparisons: speed('ours', 'bare', 0.95, 1),
  },
  {
    name: 'route as a tool',
    quick: true,
    contenders: {
      'the route by HTTP': contender('bare', ORDER, { feature: 'route' }),
      'the tool': contender('ours', ORDER, { feature: 'route' }),
      'a tool of its own': contender('ours', ORDER, { feature: 'guarded' }),
    },
    comparisons: [...speed('the tool', 'the route by HTTP', 0.9), ...speed('the tool', 'a tool of its own')],
  },
  {
    name: 'one of 1,000 tools',
    contenders: {
      '1 tool': contender('ours', ECHO),
      '1,000 tools': contender('ours', ECHO, { tools: 1000 }),
    },
    comparisons: speed('1,000 tools', '1 tool', 0.97),
  },
  {
    name: 'chain of local validators',
    quick: true,
    contenders: {
      plain: contender('ours', ORDER, { feature: 'orders' }),
      '10 rules': contender('ours', ORDER, { feature: 'rules' }),
      '10 scans of all text': contender('ours', ORDER, { feature: 'scans' }),
    },
    comparisons: [...speed('10 rules', 'plain', 0.88, 0.95), ...speed('10 scans of all text', 'plain')],
  },
  {
    name: 'call through a gateway',
    quick: true,
    contenders: { bare: proxy('bare'), ours: proxy('ours') },
    comparisons: speed('ours', 'bare', 0.5, 0.7),
  },
  {
    name: 'explorer imported',
    contenders: {
      without: contender('ours', ORDER, { feature: 'rules' }),
      'with the explorer': contender('ours', ORDER, { feature: 'rules', explorer: true }),
    },
    comparisons: speed('with the explorer', 'without', 0.97),
  },
  {
    name: 'tasks imported',
    contenders: { without: contender('ours', ECHO), 'with tasks': contender('ours', ECHO, { tasks: true }) },
    comparisons: speed('with tasks', 'without', 0.98),
  },
  tasks('tasks', 3, {}),
  tasks('tasks, Redis', 5, { redis: true }),
  shared('tools/call', ECHO, 0.9, {}),
  shared('call in a 2025 session', ECHO, 0.5, { era: SESSION }),
  shared('call in a 2025 session', ECHO, 0.5, { era: SESSION, platform: 'express' }),
  shared('call with progress in a 2025 session', REPORT, 0.5, { era: SESSION, feature: 'orders' }),
  observed('tools/call', { platform: 'express', era: MODERN }),
  observed('tools/call', { platform: 'fastify', era: MODERN }),
  observed('call in a 2025 session', { platform: 'express', era: SESSION }),
  {
    name: 'tools/call with authorization, fastify',
    contenders: {
      'without authorization': contender('ours', ECHO, { platform: 'fastify', token: TOKEN }),
      'a cached token': protectedFor(60_000),
      'a token that is verified first': protectedFor(0),
    },
    comparisons: [
      ...speed('a cached token', 'without authorization', 0.85, 0.95),
      ...speed('a token that is verified first', 'without authorization'),
    ],
  },
  list(100, 'peer'),
  list(1000),
  {
    name: 'tools/list of a toolset of 50 among 1,000 tools',
    contenders: {
      bare: contender('bare', LIST, { tools: 50 }),
      ours: contender('ours', LIST, { tools: 1000, toolsets: 20 }),
    },
    comparisons: speed('ours', 'bare', 1.3, 2),
  },
  {
    name: 'search among 1,000 tools',
    contenders: {
      plain: contender('ours', ECHO, { tools: 1000, search: true }),
      'a search': contender('ours', SEARCH, { tools: 1000, search: true }),
    },
    comparisons: speed('a search', 'plain'),
  },
  {
    name: 'rounds',
    quick: true,
    contenders: {
      plain: contender('ours', ORDER, { feature: 'rounds' }),
      'a round that asks': contender('ours', ASK, { feature: 'rounds' }),
      'a round that is answered': {
        ...contender('ours', { ...ASK, says: ORDER.says }, { feature: 'rounds' }),
        next: answerOf,
      },
    },
    comparisons: ['a round that asks', 'a round that is answered'].flatMap(round =>
      speed(round, 'plain', 1 / 1.8, 1 / 1.5),
    ),
  },
];
