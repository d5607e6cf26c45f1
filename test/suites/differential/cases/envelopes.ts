import type { Sent } from '../send.js';
import {
  ANYTHING,
  ANYTHING_OR_NOTHING,
  CAPABILITIES,
  CLIENT,
  ENVELOPE,
  LOG_LEVEL,
  message,
  modern,
  modernWith,
  post,
  standardHeaders,
  VERSION,
} from './request.js';

const LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
  'Debug',
  'none',
];

/** Every mistake in the envelope, and everything that it may say. */
export const ENVELOPE_CASES: readonly Sent[] = [
  ...[VERSION, CLIENT, CAPABILITIES].flatMap(key =>
    ANYTHING_OR_NOTHING.flatMap(value => [
      modernWith({ [key]: value }, 'tools/list'),
      modernWith({ [key]: value }, 'tools/call', { name: 'seen' }),
    ]),
  ),
  ...ANYTHING_OR_NOTHING.flatMap(_meta => [
    modern('tools/list', { _meta }),
    post(message('tools/list', { _meta })),
    post(message('tools/list', { _meta }), { 'mcp-protocol-version': '2025-11-25' }),
  ]),
  ...['2025-11-25', '2024-11-05', '2026-07-29', '2099-01-01', 'v1', '2026-07-28 '].flatMap(version => [
    modernWith({ [VERSION]: version }, 'tools/list'),
    post(message('tools/list', { _meta: { ...ENVELOPE, [VERSION]: version } }), {
      ...standardHeaders('tools/list', {}),
      'mcp-protocol-version': version,
    }),
  ]),
  ...ANYTHING.flatMap(value => [
    modernWith({ [CAPABILITIES]: { elicitation: value } }, 'tools/call', { name: 'askByException' }),
    modernWith({ [CAPABILITIES]: { sampling: value, roots: value } }, 'tools/call', { name: 'askByAwait' }),
    modernWith({ [CLIENT]: { name: value, version: '1' } }, 'tools/call', { name: 'seen' }),
    modernWith({ 'example.com/own': value, traceparent: value }, 'tools/call', { name: 'seen' }),
  ]),
  ...['askByException', 'askByAwait', 'askByReturning', 'askForState'].map(name =>
    modernWith({ [CAPABILITIES]: {} }, 'tools/call', { name, arguments: {} }),
  ),
  ...[...ANYTHING_OR_NOTHING, Number.MAX_SAFE_INTEGER, 'token'].flatMap(progressToken =>
    ['progress', 'progressThenCrash', 'progressThenRefuse', 'test_tool_with_progress', 'echo'].map(name =>
      modernWith({ progressToken }, 'tools/call', { name, arguments: { text: 'x' } }),
    ),
  ),
  ...[...LEVELS, ...ANYTHING].flatMap(level => [
    modernWith({ [LOG_LEVEL]: level }, 'tools/call', { name: 'logs' }),
    modernWith({ [LOG_LEVEL]: level, progressToken: 1 }, 'tools/call', { name: 'progress' }),
    modernWith({ [LOG_LEVEL]: level }, 'tools/list'),
  ]),
];
