import type { Sequence, Step } from '../play.js';
import { RECORDED_SESSIONS } from '../corpus.js';
import { ANYTHING, ANYTHING_OR_NOTHING, message, post } from './request.js';
import {
  ask,
  call,
  cancel,
  CLIENT,
  END,
  headed,
  INITIALIZE,
  INITIALIZED,
  initializeWith,
  MISTAKES,
  PING,
  SESSION_STEPS,
  STREAM,
} from './steps.js';

/** A call that waits to be cancelled. */
const waiting = (id: unknown): Step => ({ ...call('wait', {}, id, { progressToken: 'w' }), goesOn: true });

const session = (name: string, ...steps: Step[]): Sequence => ({ name, initialize: INITIALIZE, steps });

const URI = 'users://watched/name';

/** What a client does over a session: in order, out of order, and by mistake. */
export const SESSIONS: readonly Sequence[] = [
  ...RECORDED_SESSIONS.map((steps, index) => session(`recorded ${index}`, ...steps)),
  ...chunks([...SESSION_STEPS, ...MISTAKES], 10).map((steps, index) =>
    session(`steps ${index}`, INITIALIZED, ...steps, PING),
  ),
  ...[PING, call('seen'), STREAM, END, INITIALIZE].map((step, index) =>
    session(`not initialized ${index}`, step),
  ),
  ...ANYTHING_OR_NOTHING.flatMap(value =>
    [
      { ...CLIENT, capabilities: value },
      { ...CLIENT, capabilities: {}, protocolVersion: value },
      { ...CLIENT, capabilities: {}, clientInfo: value },
      { ...CLIENT, capabilities: { elicitation: value, sampling: value } },
      value,
    ].map((params): Sequence => ({
      name: 'opened',
      initialize: initializeWith(params),
      steps: [INITIALIZED, call('askByAwait')],
    })),
  ),
  ...ANYTHING.map(id => ({
    ...session('opened with an id', PING),
    initialize: initializeWith({ ...CLIENT, capabilities: {} }, { id }),
  })),
  ...['2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07', '2026-07-28', 'x'].map(protocolVersion => ({
    ...session('opened with a version', INITIALIZED, call('seen'), call('numbers')),
    initialize: initializeWith({ ...CLIENT, capabilities: {}, protocolVersion }),
  })),
  session('cancels a call', INITIALIZED, waiting(7), cancel(7), PING, call('seen', {}, 7)),
  session('cancels a call by another id', INITIALIZED, waiting(7), cancel('7'), PING),
  session('cancels two calls', INITIALIZED, waiting(7), waiting('b'), cancel('b'), cancel(7), PING),
  session('cancels one call twice', INITIALIZED, waiting(7), cancel(7), cancel(7), PING),
  session('cancels in a batch', INITIALIZED, waiting(7), post([cancelled(7), message('ping')]), PING),
  session('cancels a request that has ended', INITIALIZED, call('echo', { text: 'x' }, 7), cancel(7), PING),
  session('takes an id twice', INITIALIZED, waiting(7), ask('ping', {}, 7), cancel(7)),
  session('takes an id twice, of another type', INITIALIZED, waiting(7), ask('ping', {}, '7'), cancel(7)),
  session('takes an id again', INITIALIZED, ask('ping', {}, 7), ask('ping', {}, 7), call('seen', {}, 7)),
  session('ends while a call runs', INITIALIZED, waiting(7), END, PING),
  session('goes on after its end', INITIALIZED, END, PING, STREAM, END, INITIALIZE),
  session('has a stream', INITIALIZED, STREAM, PING, call('logs')),
  session('has two streams', INITIALIZED, STREAM, STREAM, PING),
  session(
    'has a stream of another version',
    INITIALIZED,
    headed(STREAM, { 'mcp-protocol-version': '1999-01-01' }),
  ),
  session('resumes a stream', INITIALIZED, headed(STREAM, { 'last-event-id': 'x' }), PING),
  session(
    'subscribes',
    INITIALIZED,
    STREAM,
    ask('resources/subscribe', { uri: URI }),
    { ...call('touch', { uri: URI }), until: 1 },
    ask('resources/unsubscribe', { uri: URI }),
    call('touch', { uri: URI }),
  ),
  session(
    'sets a level',
    INITIALIZED,
    ask('logging/setLevel', { level: 'warning' }),
    call('logs'),
    ask('logging/setLevel', { level: 'emergency' }),
    call('logs'),
    STREAM,
    call('logs'),
  ),
  { name: 'is none', initialize: false, steps: [PING, INITIALIZED, STREAM, END, post([message('ping')])] },
];

function cancelled(requestId: unknown) {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
