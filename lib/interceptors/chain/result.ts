import type {
  Direction,
  InterceptorType,
  InvocationContext,
  Phase,
  Severity,
  ValidationMessage,
} from '../protocol/types.js';
import type { PatchOperation } from './diff.js';

export interface Invocation {
  readonly name: string;
  readonly event: string;
  readonly phase: Phase;
  readonly direction: Direction;
  readonly payload: unknown;
  readonly request?: unknown;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly context?: InvocationContext;
  readonly protocolVersion?: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly bag: Map<unknown, unknown>;
  readonly report?: SinkReport;
}

export type ChainStatus = 'success' | 'validation_failed' | 'mutation_failed' | 'timeout';

/** The outcome of one interceptor. `crash` and `timeout` mean that the interceptor itself failed. */
export type Outcome =
  'pass' | 'deny' | 'warn' | 'mutated' | 'unmodified' | 'dropped' | 'responded' | 'crash' | 'timeout';

/** The outcome of one interceptor in a run of a chain. */
export interface EntryResult {
  readonly interceptor: string;
  readonly host: string;
  readonly type: Exclude<InterceptorType, 'sink'>;
  readonly phase: Phase;
  /** Present only if the interceptor ran in audit mode. */
  readonly mode?: 'audit';
  readonly outcome: Outcome;
  /** The second run of a `final` validator. */
  readonly final?: true;
  readonly valid?: boolean;
  /** The severity of a validator's objection or remark. `error` blocks, except in audit mode. */
  readonly severity?: Severity;
  readonly messages?: readonly ValidationMessage[];
  readonly suggestions?: readonly { readonly path: string; readonly value: unknown }[];
  readonly modified?: boolean;
  readonly payload?: unknown;
  /** Further information, in the interceptor's own format. */
  readonly info?: Readonly<Record<string, unknown>>;
  /** The cause of a failure, only for the log, never for a client. */
  readonly error?: string;
  /** Whether it failed because a required store is not available. */
  readonly unavailable?: true;
  readonly failedOpen?: true;
  /** The changes that an audit or simulated mutator would have made (RFC 6902). */
  readonly diff?: readonly PatchOperation[];
  readonly durationMs: number;
}

export interface SkippedEntry {
  readonly interceptor: string;
  readonly host: string;
  /** `when` or `compat` did not match, a simulation skips side effects, or too many audit interceptors ran (`busy`). */
  readonly reason: 'when' | 'compat' | 'side-effects' | 'busy';
}

/** The outcome of a chain run (SEP-2624). */
export interface ChainResult {
  readonly status: ChainStatus;
  readonly event: string;
  readonly phase: Phase;
  /** Every interceptor that ran, including failed ones. Mutators are in running order, validators in entry order. */
  readonly results: readonly EntryResult[];
  readonly skipped: readonly SkippedEntry[];
  /** The payload after all mutations; absent unless the status is `success`. */
  readonly finalPayload?: unknown;
  /** The answer of an interceptor that replaced the operation, and the interceptor's name. */
  readonly response?: { readonly interceptor: string; readonly result: object };
  /** The number of objections by severity, including objections of audit validators. */
  readonly validationSummary: { readonly errors: number; readonly warnings: number; readonly infos: number };
  readonly totalDurationMs: number;
  /** The interceptor that ended the chain early: the first in entry order. */
  readonly abortedAt?: {
    readonly interceptor: string;
    readonly host: string;
    readonly reason: string;
    readonly type: 'validation' | 'mutation' | 'timeout';
  };
}

/** The outcome of one interceptor, as a sink sees it: without the payload, and without texts that may quote it. */
export type EntryReport = Omit<EntryResult, 'payload' | 'diff' | 'suggestions' | 'error'>;

/**
 * What a chain decided, as a sink sees it. It holds no payload, so that a sink can store it. Its texts are the
 * `messages` and the `info` of interceptors.
 */
export interface SinkReport extends Omit<ChainResult, 'results' | 'finalPayload' | 'response' | 'abortedAt'> {
  readonly results: readonly EntryReport[];
  /** The name of the interceptor that answered instead of the handler. */
  readonly response?: { readonly interceptor: string };
  /** The interceptor that ended the chain early. The log has the reason of a failure. */
  readonly abortedAt?: Omit<NonNullable<ChainResult['abortedAt']>, 'reason'>;
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

type About = Pick<ChainResult, 'event' | 'phase'>;

/** The result if interceptors do not hook the event. */
export const passed = ({ event, phase, payload }: About & { readonly payload: unknown }): ChainResult => ({
  event,
  phase,
  results: [],
  skipped: [],
  validationSummary: { errors: 0, warnings: 0, infos: 0 },
  status: 'success',
  finalPayload: payload,
  totalDurationMs: 0,
});

export function reportOf(result: ChainResult): SinkReport {
  const { finalPayload: _payload, results, response, abortedAt, ...rest } = result;
  const report: Writable<SinkReport> = { ...rest, results: results.map(entryReportOf) };
  if (response) report.response = { interceptor: response.interceptor };
  if (abortedAt) {
    const { reason: _reason, ...who } = abortedAt;
    report.abortedAt = who;
  }
  return report;
}

function entryReportOf(entry: EntryResult): EntryReport {
  const { payload: _payload, diff: _diff, suggestions: _suggestions, error: _error, ...report } = entry;
  return report;
}

export function summaryOf(results: readonly EntryResult[]): ChainResult['validationSummary'] {
  const count = { error: 0, warn: 0, info: 0 };
  for (const { severity } of results) if (severity) count[severity]++;
  return { errors: count.error, warnings: count.warn, infos: count.info };
}
