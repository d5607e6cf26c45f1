import type { CallTrace, ChainRun, TraceTurn } from '../api.js';
import { diffView, shownView } from './diff-view.js';
import { badge, button, code, copy, h } from './dom.js';
import { isRecord, ms } from './values.js';

/** The answer of one round, with what ran before and after it. */
export function traceView(trace: CallTrace): Node[] {
  const { outcome, status, durationMs, traceId, chain, progress, logs, task } = trace;
  return [
    h(
      'p',
      badge(outcome, outcome === 'error' ? 'deny' : 'pass'),
      ` HTTP ${status} after ${ms(durationMs)}. Trace id `,
      h('code', traceId),
      ' ',
      button('Copy trace id', () => copy(traceId, 'Trace id'), 'small'),
    ),
    // A panel shows the task.
    ...(task ? [] : answerView(trace)),
    ...listOf('Progress', progress, ({ atMs, text, share }) => [
      h('span.at', ms(atMs)),
      ` ${text}`,
      share !== undefined && h('progress', { value: share, max: 1, 'aria-label': text || 'Progress' }),
    ]),
    ...listOf('Log messages', logs, ({ atMs, level, text }) => [
      h('span.at', ms(atMs)),
      ' ',
      badge(level, level),
      ` ${text}`,
    ]),
    ...listOf('Interceptors', chain, runView),
  ];
}

const listOf = <Item>(
  title: string,
  items: readonly Item[],
  view: (item: Item) => Parameters<typeof h>[2],
) => (items.length > 0 ? [h('h4', title), h('ol.timeline', ...items.map(item => h('li', view(item))))] : []);

/** The result or the error, if there is one yet. */
export function answerView({ error, result }: CallTrace): Node[] {
  if (error) {
    return [
      h('p.alert', `${error.code}: ${error.message}`),
      ...(error.data ? [shownView(error.data, 'Data of the error')] : []),
    ];
  }
  if (!result) return [];
  const text = textIn(result.value);
  return [
    ...(isRecord(result.value) && result.value['isError'] === true
      ? [h('p.alert', 'The tool says that it failed (isError).')]
      : []),
    ...(text ? [h('h4', 'Text'), code(text, 'Text of the result')] : []),
    h('details', { open: !text }, h('summary', 'Result as JSON'), shownView(result, 'Result')),
  ];
}

function textIn(result: unknown): string {
  const content = isRecord(result) ? result['content'] : undefined;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isRecord)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n');
}

const runView = ({ event, phase, direction, status, turns, skipped, durationMs }: ChainRun): Node[] => [
  h(
    'p',
    h('strong', `${event} · ${phase} · ${direction}`),
    ' ',
    badge(status, status === 'success' ? 'pass' : 'deny'),
    ` ${ms(durationMs)}`,
  ),
  h('ol', ...turns.map(turn => h('li', turnView(turn)))),
  ...(skipped.length > 0
    ? [h('p.hint', `Skipped: ${skipped.map(({ id, reason }) => `${id} (${reason})`).join(', ')}`)]
    : []),
];

const turnView = ({
  id,
  type,
  mode,
  outcome,
  isFinal,
  messages,
  error,
  before,
  after,
  durationMs,
}: TraceTurn) => [
  badge(outcome, outcome),
  ' ',
  h('code', id),
  ` ${type}${isFinal ? ', final' : ''} `,
  mode === 'audit' && badge('audit', 'audit'),
  ` ${ms(durationMs)}`,
  error !== undefined && h('p.alert', error),
  messages.length > 0 &&
    h(
      'ul',
      ...messages.map(({ path, message, severity }) =>
        h('li', badge(severity, severity), ' ', path && h('code', `${path} `), message),
      ),
    ),
  before && after && diffView(before, after, `What ${id} changed`),
];
