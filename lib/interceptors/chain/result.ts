import type { PatchOperation } from './diff.js';
import type { ChainParams } from './params.js';
import type { InterceptorType, Phase, Severity, ValidationMessage } from '../protocol/types.js';

/** How a chain ended. */
export type ChainStatus = 'success' | 'validation_failed' | 'mutation_failed' | 'timeout';

/** What became of one interceptor. `crash` and `timeout` are failures of its own. */
export type Outcome =
  'pass' | 'deny' | 'warn' | 'mutated' | 'unmodified' | 'dropped' | 'responded' | 'crash' | 'timeout';

/** One interceptor's part in a chain. */
export interface EntryResult {
  readonly interceptor: string;
  readonly host: string;
  readonly type: Exclude<InterceptorType, 'sink'>;
  readonly phase: Phase;
  /** Present only where it was audit. */
  readonly mode?: 'audit';
  readonly outcome: Outcome;
  /** The second run of a `final` validator. */
  readonly final?: true;
  readonly valid?: boolean;
  readonly severity?: Severity;
  readonly messages?: readonly ValidationMessage[];
  readonly suggestions?: readonly { readonly path: string; readonly value: unknown }[];
  readonly modified?: boolean;
  readonly payload?: unknown;
  readonly info?: Readonly<Record<string, unknown>>;
  /** What a failure was; for the log, never for a client. */
  readonly error?: string;
  /** Whether the failure was let through because of `failOpen`. */
  readonly failedOpen?: true;
  /** What an audit mutator would have changed (RFC 6902), or a simulated one did. */
  readonly diff?: readonly PatchOperation[];
  readonly durationMs: number;
}

/** An interceptor that hooks the event but did not run. */
export interface SkippedEntry {
  readonly interceptor: string;
  readonly host: string;
  readonly reason: 'when' | 'compat' | 'side-effects';
}

/** What a run of a chain came to (SEP-2624). */
export interface ChainResult {
  readonly status: ChainStatus;
  readonly event: string;
  readonly phase: Phase;
  /** Every interceptor that ran, those that failed too; mutators in their order, validators in entry order. */
  readonly results: readonly EntryResult[];
  readonly skipped: readonly SkippedEntry[];
  /** The payload after all mutations; absent unless the status is `success`. */
  readonly finalPayload?: unknown;
  /** The answer that an interceptor gave in place of the operation, and which interceptor. */
  readonly response?: { readonly interceptor: string; readonly result: object };
  readonly validationSummary: { readonly errors: number; readonly warnings: number; readonly infos: number };
  readonly totalDurationMs: number;
  /** Where the chain ended before its end: the first in entry order. */
  readonly abortedAt?: {
    readonly interceptor: string;
    readonly host: string;
    readonly reason: string;
    readonly type: 'validation' | 'mutation' | 'timeout';
  };
}

/** What a chain comes to that nothing in it hooks. */
export const passed = ({
  event,
  phase,
  payload,
}: Pick<ChainParams, 'event' | 'phase' | 'payload'>): ChainResult => ({
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
  { event, phase }: Pick<ChainParams, 'event' | 'phase'>,
  totalDurationMs: number,
): ChainResult => ({
  status: 'timeout',
  event,
  phase,
  results: [],
  skipped: [],
  validationSummary: { errors: 0, warnings: 0, infos: 0 },
  totalDurationMs,
  abortedAt: { interceptor: '', host: '', reason: 'the hosts were not listed in time', type: 'timeout' },
});

/** How many objections of each severity there were. */
export function summaryOf(results: readonly EntryResult[]): ChainResult['validationSummary'] {
  const count = { error: 0, warn: 0, info: 0 };
  for (const { severity } of results) if (severity) count[severity]++;
  return { errors: count.error, warnings: count.warn, infos: count.info };
}
