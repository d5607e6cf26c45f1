import type { CallTrace, Kind, Shown } from '../api.js';
import { store, stored } from './dom.js';
import { KIND_OF } from './route.js';
import { isRecord, jsonIn, textOf, type Json } from './values.js';

const KEY = 'mcp-explorer-history';
const MAX_RUNS = 50;

/** The most characters of a result or of params that are kept. */
const MAX_LENGTH = 20_000;

/** One call of this browser. It holds no token. */
export interface Run {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly server: string;
  readonly kind: Kind;
  readonly name: string;
  readonly params: Json;
  /** Whether the params were too long to keep. */
  readonly isCut?: boolean;
  readonly caller: string;
  readonly revision: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly answer?: Shown;
}

function allRuns(): Run[] {
  const runs = jsonIn(stored(KEY));
  return Array.isArray(runs) ? (runs as Run[]) : [];
}

export const runsOf = (server: string): Run[] => allRuns().filter(run => run.server === server);

/** The latest first. */
export const remember = (run: Run): void =>
  store(KEY, JSON.stringify([run, ...allRuns()].slice(0, MAX_RUNS)));

export const forget = (): void => store(KEY);

export function runOf(
  { method, params }: { readonly method: string; readonly params: Json },
  trace: CallTrace,
  about: Pick<Run, 'server' | 'caller' | 'revision'>,
  name: string,
  kind: Kind,
): Run {
  const { traceId, durationMs, result, error } = trace;
  const answer = result ?? (error && { value: error, size: 0 });
  const isFailure = isRecord(result?.value) && result.value['isError'] === true;
  return {
    id: traceId,
    at: new Date().toISOString(),
    ...about,
    kind: KIND_OF[method] === undefined || kind === 'resource template' ? kind : KIND_OF[method],
    name,
    ...(textOf(params).length > MAX_LENGTH ? { params: {}, isCut: true } : { params }),
    outcome: isFailure ? 'tool error' : trace.outcome,
    durationMs,
    ...(answer && { answer: textOf(answer).length > MAX_LENGTH ? cut(answer) : answer }),
  };
}

const cut = ({ value, preview, size }: Shown): Shown => ({
  preview: (preview ?? textOf(value)).slice(0, 2000),
  size,
});

/** The arguments of a run, as the form and a link take them. */
export const argsOf = ({ params, kind }: Pick<Run, 'params' | 'kind'>): unknown =>
  kind === 'method' ? params : kind === 'resource template' ? params['uri'] : params['arguments'];
