import type { InterceptorType, Phase, Severity, ValidationMessage } from '../protocol/types.js';
import type { PatchOperation } from './diff.js';

export type ChainStatus = 'success' | 'validation_failed' | 'mutation_failed' | 'timeout';

/** What became of one interceptor. `crash` and `timeout` are failures of its own. */
export type Outcome =
  'pass' | 'deny' | 'warn' | 'mutated' | 'unmodified' | 'dropped' | 'responded' | 'crash' | 'timeout';

/** One interceptor's part in a chain. */
export interface EntryResult {
  readonly interceptor: string;
  readonly host: string;
  /** What it is; a sink decides nothing, and has no result. */
  readonly type: Exclude<InterceptorType, 'sink'>;
  readonly phase: Phase;
  /** Present only where it was audit. */
  readonly mode?: 'audit';
  readonly outcome: Outcome;
  /** The second run of a `final` validator. */
  readonly final?: true;
  /** For a validator: what it said of the payload. */
  readonly valid?: boolean;
  /** For a validator that objects, or only tells something: how much that is. `error` blocks, unless it is audit. */
  readonly severity?: Severity;
  /** For a validator: its objections. */
  readonly messages?: readonly ValidationMessage[];
  /** For a validator: corrections, by the path of what they correct. */
  readonly suggestions?: readonly { readonly path: string; readonly value: unknown }[];
  readonly modified?: boolean;
  /** For a mutator that did: the payload that it made. */
  readonly payload?: unknown;
  /** What it told beside, in words of its own. */
  readonly info?: Readonly<Record<string, unknown>>;
  /** What a failure was; for the log, never for a client. */
  readonly error?: string;
  readonly failedOpen?: true;
  /** What an audit mutator would have changed (RFC 6902), or a simulated one did. */
  readonly diff?: readonly PatchOperation[];
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** An interceptor that hooks the event but did not run. */
export interface SkippedEntry {
  readonly interceptor: string;
  readonly host: string;
  /** `when` or `compat` did not match, a simulation skips side effects, or too many audit interceptors ran (`busy`). */
  readonly reason: 'when' | 'compat' | 'side-effects' | 'busy';
}

/** What a run of a chain came to (SEP-2624). */
export interface ChainResult {
  readonly status: ChainStatus;
  readonly event: string;
  readonly phase: Phase;
  /** Every interceptor that ran, those that failed too; mutators in their order, validators in entry order. */
  readonly results: readonly EntryResult[];
  /** Those that hook the event and did not run. */
  readonly skipped: readonly SkippedEntry[];
  /** The payload after all mutations; absent unless the status is `success`. */
  readonly finalPayload?: unknown;
  /** The answer that an interceptor gave in place of the operation, and which interceptor. */
  readonly response?: { readonly interceptor: string; readonly result: object };
  /** How many validators objected, by severity; those that are audit too. */
  readonly validationSummary: { readonly errors: number; readonly warnings: number; readonly infos: number };
  /** How long the whole run took, in milliseconds. */
  readonly totalDurationMs: number;
  /** Where the chain ended before its end: the first in entry order. */
  readonly abortedAt?: {
    readonly interceptor: string;
    readonly host: string;
    readonly reason: string;
    readonly type: 'validation' | 'mutation' | 'timeout';
  };
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** What a chain comes to that nothing in it hooks. */
export const passed = ({
  event,
  phase,
  payload,
}: Pick<ChainResult, 'event' | 'phase'> & { readonly payload: unknown }): ChainResult => ({
  status: 'success',
  event,
  phase,
  results: [],
  skipped: [],
  finalPayload: payload,
  validationSummary: { errors: 0, warnings: 0, infos: 0 },
  totalDurationMs: 0,
});

/** What a run comes to whose time was up before it was known who would have to be asked. */
export const undiscoveredInTime = (
  { event, phase }: Pick<ChainResult, 'event' | 'phase'>,
  totalDurationMs: number,
): ChainResult => ({
  ...passed({ event, phase, payload: undefined }),
  status: 'timeout',
  totalDurationMs,
  abortedAt: { interceptor: '', host: '', reason: 'the hosts were not listed in time', type: 'timeout' },
});

export function summaryOf(results: readonly EntryResult[]): ChainResult['validationSummary'] {
  const count = { error: 0, warn: 0, info: 0 };
  for (const { severity } of results) if (severity) count[severity]++;
  return { errors: count.error, warnings: count.warn, infos: count.info };
}
