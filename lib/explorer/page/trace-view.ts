import type { CallTrace, ChainRun, Shown, TraceSink, TraceTurn } from '../api.js';
import { contentView } from './content-view.js';
import { diffView, shownView } from './diff-view.js';
import { badge, button, copy, h, outcomeBadge, type Child } from './dom.js';
import { interceptorLink } from './links.js';
import { logLine } from './run-view.js';
import { isRecord, ms, shortId } from './values.js';

/**
 * The answer of one round, with what ran before and after it.
 * @param next what the user does with the answer, such as a form
 */
export function traceView(trace: CallTrace, next?: Child): Child[] {
  const { outcome, status, durationMs, traceId, chain, sinks, progress, logs, task, result } = trace;
  return [
    h(
      'p.verdict',
      outcomeBadge(isFailed(result) ? 'tool error' : outcome),
      h('span.number', `HTTP ${status} after ${ms(durationMs)}`),
      h('span.hint', 'Trace id ', h('code', traceId)),
      button('Copy trace id', () => copy(traceId, 'Trace id'), 'small'),
    ),
    // A panel shows the task.
    task ? [] : answerView(trace),
    next,
    listOf('Progress', progress, ({ atMs, text, share }) =>
      h(
        'li',
        h('span.at', ms(atMs)),
        h('span', text),
        share !== undefined && h('progress', { value: share, max: 1, 'aria-label': text || 'Progress' }),
      ),
    ),
    listOf('Log messages', logs, logLine),
    listOf('Interceptors', chain, run => h('li.run', runView(run))),
    listOf('Sinks', sinks, sink => h('li', sinkView(sink))),
  ];
}

const isFailed = (result: Shown | undefined): boolean =>
  isRecord(result?.value) && result.value['isError'] === true;

const listOf = <Item>(title: string, items: readonly Item[], view: (item: Item) => HTMLElement): Child =>
  items.length > 0 && [h('h4', title), h('ol.timeline', { 'aria-label': title }, ...items.map(view))];

/** The result or the error, if there is one yet. */
export function answerView({ outcome, error, result }: CallTrace): Child[] {
  if (error) {
    return [
      h('p.alert', `${error.code}: ${error.message}`),
      error.data && shownView(error.data, 'Data of the error'),
    ];
  }
  if (!result) return [];
  const { value } = result;
  // The input requests have a form.
  const parts = isRecord(value) && outcome !== 'asked' ? contentView(value) : [];
  const hasFailed = isFailed(result);
  return [
    hasFailed && h('p.alert', 'The tool says that it failed (isError).'),
    h('div', { class: hasFailed ? 'failed' : '' }, parts),
    h(
      'details',
      { open: result.preview !== undefined },
      h('summary', 'Result as JSON'),
      shownView(result, 'Result'),
    ),
  ];
}

const sinkView = ({ id, event, phase, outcome, durationMs }: TraceSink): Child[] => [
  badge(outcome, outcome),
  interceptorLink(id),
  h('small', `${event} · ${phase}`),
  durationMs !== undefined && h('small.number', ms(durationMs)),
];

const runView = ({ event, phase, status, turns, skipped, durationMs }: ChainRun): Child[] => [
  h(
    'p',
    h('strong', `${event} · ${phase}`),
    status !== 'success' && [' ', badge(status.replace('_', ' '), 'deny')],
    h('small.number', ` ${ms(durationMs)}`),
  ),
  h('ol.turns', ...turns.map(turn => h('li', turnView(turn)))),
  skipped.length > 0 &&
    h('p.hint', `Skipped: ${skipped.map(({ id, reason }) => `${shortId(id)} (${reason})`).join(', ')}`),
];

/** Outcomes of an interceptor that has nothing to say. */
const QUIET = ['pass', 'unmodified'];

const turnView = (turn: TraceTurn): Child[] => {
  const { id, mode, outcome, isFinal, messages, error, before, after, durationMs } = turn;
  return [
    h(
      'div.turn',
      badge(outcome, QUIET.includes(outcome) ? 'quiet' : outcome),
      interceptorLink(id),
      isFinal && h('small', 'final'),
      mode === 'audit' && badge('audit', 'audit'),
      h('small.number', ms(durationMs)),
    ),
    error !== undefined && h('p.alert', error),
    messages.length > 0 &&
      h(
        'ul.messages',
        ...messages.map(({ path, message, severity }) =>
          h('li', badge(severity, severity), ' ', path && h('code', `${path} `), message),
        ),
      ),
    before && after && diffView(before, after, `What ${id} changed`),
  ];
};
