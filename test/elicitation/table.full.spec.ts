import { ROWS, testCalls } from './table.js';

/** One of each kind: over stdio, handlers run again or wait as they do over HTTP. */
const KINDS = [
  'an exception',
  'a returned result, with a state',
  'an awaited question, declined',
  'questions under Promise.all',
  'three kinds at once',
  'several rounds under one key',
  'both styles',
  'a page to visit',
  'parameters that are asked for',
  'a guard that asks by exception, before a handler that awaits twice',
  'an interceptor that runs a failed handler again',
  'a step that waits for an answer',
  'a client that throws',
  'a capability that is not declared',
  'a malformed answer',
  'rounds without end',
  'a swallowed signal',
  'a question that is not awaited',
] as const;
const rows = Object.fromEntries(KINDS.map(kind => [kind, ROWS[kind]]));

describe.each(['modern stdio', '2025 stdio'] as const)('calls with several rounds, over %s', name =>
  testCalls(name, rows),
);
