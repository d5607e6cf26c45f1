import type { Sent } from '../send.js';
import { ANYTHING, ANYTHING_OR_NOTHING, ENVELOPE, message, post, standardHeaders } from './request.js';

const WHOLE = message('tools/list', { _meta: ENVELOPE });
const ok = standardHeaders('tools/list', {});
const members = (more: Record<string, unknown>) => ({ ...WHOLE, ...more });
const LEGACY = message('tools/list');

const SHAPES: readonly unknown[] = [
  ...ANYTHING,
  '{',
  '[',
  '{"jsonrpc":"2.0"',
  'undefined',
  `\uFEFF${JSON.stringify(WHOLE)}`,
  `${JSON.stringify(WHOLE)} x`,
  '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list","method":"ping"}',
  `{"__proto__":{"x":1},${JSON.stringify(WHOLE).slice(1)}`,
  ...ANYTHING_OR_NOTHING.flatMap(value => [
    members({ jsonrpc: value }),
    members({ id: value }),
    members({ method: value }),
    members({ params: value }),
    members({ result: value }),
    members({ error: value }),
    members({ more: value }),
    { ...LEGACY, id: value },
    { ...LEGACY, params: value },
    { jsonrpc: '2.0', id: 1, result: value },
    { jsonrpc: '2.0', id: value, result: {} },
    { jsonrpc: '2.0', id: 1, error: value },
    { jsonrpc: '2.0', id: value, error: { code: -32000, message: 'x' } },
    { jsonrpc: '2.0', id: 1, error: { code: value, message: value } },
  ]),
  ...[Number.MAX_SAFE_INTEGER, -0, 1e300, 'x'.repeat(1000), 'é'].map(id => members({ id })),
];

const BATCHES: readonly unknown[] = [
  [],
  [[]],
  [LEGACY],
  [WHOLE],
  [LEGACY, WHOLE],
  [LEGACY, { ...LEGACY, id: 2, method: 'prompts/list' }],
  [LEGACY, LEGACY],
  [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
  [{ jsonrpc: '2.0', method: 'notifications/initialized' }, LEGACY],
  [{ jsonrpc: '2.0', id: 1, result: {} }],
  [
    message('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    }),
  ],
  Array.from({ length: 101 }, (_, id) => ({ ...LEGACY, id, method: 'ping' })),
  ...ANYTHING.map(value => [LEGACY, value]),
];

/** Bodies that are no request, or a strange one. */
export const BODY_CASES: readonly Sent[] = [...SHAPES, ...BATCHES].flatMap(body => [
  post(body === '' ? '""' : body, ok),
  post(body === '' ? '""' : body),
]);
