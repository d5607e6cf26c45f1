import { inspect } from 'node:util';
import type { EntryResult } from '../../interceptors/chain/result.js';
import { withoutSecrets } from '../../telemetry/recording.js';
import { isRecord } from '../../util/is-record.js';
import type {
  CallEvent,
  CallTrace,
  ChainRun,
  InputRequest,
  Shown,
  TaskState,
  TraceSink,
  TraceTurn,
} from '../api.js';
import { changesOf, type RecordedRun, type RecordedSink, type Recording } from '../record/recording.js';
import type { Answer, Received } from './in-process-client.js';

type Json = Readonly<Record<string, unknown>>;

/** The most characters of a value that is shown whole. */
const MAX_VALUE = 64 * 1024;
const PREVIEW = 2 * 1024;

/** The most characters of all values of one answer. */
const MAX_ALL = 4 * 1024 * 1024;

/** Bounds what one answer of the API shows. */
class Showing {
  private left = MAX_ALL;

  show(value: unknown): Shown {
    const { json, read } = jsonOf(value);
    const size = json.length;
    const isWhole = size <= Math.min(MAX_VALUE, this.left);
    this.left -= isWhole ? size : PREVIEW;
    return isWhole ? { value: read, size } : { preview: json.slice(0, PREVIEW), size };
  }
}

/** An interceptor in audit mode may return values that JSON does not have. */
function jsonOf(value: unknown): { json: string; read: unknown } {
  try {
    return { json: JSON.stringify(value) ?? 'null', read: value };
  } catch {
    const json = JSON.stringify(inspect(value, { depth: 10, maxStringLength: PREVIEW }));
    return { json, read: JSON.parse(json) };
  }
}

/** The message of an error can hold what the interceptor is configured with. */
const CRASHED = 'It failed; the log of the application says why';

const MAX_TOLD = 200;

interface TracedCall {
  readonly method: string;
  readonly answer: Answer;
  readonly recording: Recording;
  readonly traceId: string;
  readonly durationMs: number;
}

/** The course of a call, and the changes of its payload. */
export function traceOf({ method, answer, recording, traceId, durationMs }: TracedCall): CallTrace {
  const showing = new Showing();
  const { status, told, response } = answer;
  const result = response?.['result'];
  const events = told.flatMap(received => eventOf(received, traceId) ?? []);
  const shared = {
    status,
    chain: recording.runs.map(run => chainRunOf(run, showing)),
    sinks: recording.sinks.map(sinkOf),
    progress: events.flatMap(event => ('progress' in event ? [event.progress] : [])).slice(0, MAX_TOLD),
    logs: events.flatMap(event => ('log' in event ? [event.log] : [])).slice(0, MAX_TOLD),
    traceId,
    durationMs,
  };
  if (isRecord(result) && (result['resultType'] === 'task' || method === 'tasks/get')) {
    return { ...shared, ...taskOf(result, showing) };
  }
  const isAsked = isRecord(result) && result['resultType'] === 'input_required';
  const state = isAsked ? result['requestState'] : undefined;
  return {
    outcome: result === undefined ? 'error' : isAsked ? 'asked' : 'result',
    ...shared,
    ...(result === undefined
      ? { error: errorOf(response?.['error'], `The server answered with HTTP ${status}`, showing) }
      : { result: showing.show(result) }),
    inputRequests: isAsked ? inputRequestsOf(result['inputRequests']) : [],
    ...(typeof state === 'string' && { requestState: state }),
  };
}

/** The answer of `tasks/get`, or a call that has become a task. */
function taskOf(
  task: Json,
  showing: Showing,
): Pick<CallTrace, 'outcome' | 'task' | 'result' | 'error' | 'inputRequests'> {
  const { taskId: id, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  const { result, error, inputRequests } = task;
  return {
    outcome: 'task',
    // Another server, behind a gateway, may leave fields out.
    task: { id, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } as TaskState,
    ...(result !== undefined && { result: showing.show(result) }),
    ...(error !== undefined && { error: errorOf(error, 'The task has failed', showing) }),
    inputRequests: inputRequestsOf(inputRequests),
  };
}

function errorOf(error: unknown, otherwise: string, showing: Showing): CallTrace['error'] {
  const { code, message, data } = (error ?? {}) as Json;
  return {
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : otherwise,
    ...(data !== undefined && { data: showing.show(data) }),
  };
}

const inputRequestsOf = (requests: unknown): InputRequest[] =>
  Object.entries(isRecord(requests) ? requests : {}).map(([key, request]) => {
    const { method, params = {} } = request as Pick<InputRequest, 'method'> & Partial<InputRequest>;
    return { key, method, params };
  });

/** What a message of the server is to the page while the call runs. */
export function eventOf({ atMs, message }: Received, call: string): CallEvent | undefined {
  const { id, method, params = {} } = message as Partial<InputRequest> & { readonly id?: unknown };
  if (typeof method !== 'string') return undefined;
  if (id !== undefined)
    return { type: 'inputRequest', call, inputRequest: { key: JSON.stringify(id), method, params } };
  if (String(method) === 'notifications/progress') {
    const { progress, total, message: said } = params;
    const [done, all] = [Number(progress), Number(total)];
    const text = typeof said === 'string' ? said : String(done);
    return { type: 'progress', progress: { atMs, text, ...(all > 0 && { share: Math.min(1, done / all) }) } };
  }
  if (String(method) !== 'notifications/message') return undefined;
  const { level, data } = params;
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return { type: 'log', log: { atMs, level: String(level), text: text.slice(0, 2000) } };
}

const sinkOf = ({ host, interceptor, event, phase, end }: RecordedSink): TraceSink => ({
  id: `${host}/${interceptor}`,
  event,
  phase,
  outcome: end?.outcome ?? 'running',
  ...(end && 'durationMs' in end && { durationMs: end.durationMs }),
});

function chainRunOf(run: RecordedRun, showing: Showing): ChainRun {
  const { direction, result } = run;
  const changes = changesOf(run);
  return {
    event: result.event,
    phase: result.phase,
    direction,
    status: result.status,
    turns: result.results.map(entry => turnOf(entry, changes.get(entry), showing)),
    skipped: result.skipped.map(({ host, interceptor, reason }) => ({
      id: `${host}/${interceptor}`,
      reason,
    })),
    durationMs: result.totalDurationMs,
  };
}

function turnOf(entry: EntryResult, change: [unknown, unknown] | undefined, showing: Showing): TraceTurn {
  const {
    host,
    interceptor,
    type,
    mode = 'active',
    outcome,
    final,
    messages = [],
    error,
    durationMs,
  } = entry;
  return {
    id: `${host}/${interceptor}`,
    type,
    mode,
    outcome,
    isFinal: final === true,
    messages,
    ...(error !== undefined && { error: outcome === 'crash' ? CRASHED : withoutSecrets(error) }),
    ...(change && { before: showing.show(change[0]), after: showing.show(change[1]) }),
    durationMs,
  };
}
