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
  readonly report?: ChainResult;
}

/** Both builds of the package, for `require` and for `import`, can be loaded in one process. */
const BRAND = Symbol.for('nestjs-mcp:synthetic-response');

/** Answers in place of the handler; later mutators do not run. */
export class SyntheticResponse {
  readonly [BRAND] = true;

  constructor(readonly result: object) {}

  static is(value: unknown): value is SyntheticResponse {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

export type ChainStatus = 'success' | 'validation_failed' | 'mutation_failed' | 'timeout';

/** What became of one interceptor. `crash` and `timeout` are failures of its own. */
export type Outcome =
  'pass' | 'deny' | 'warn' | 'mutated' | 'unmodified' | 'dropped' | 'responded' | 'crash' | 'timeout';

/** The outcome of one interceptor in a run of a chain. */
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
  /** For a validator that objects, or only tells something: how much that is. `error` blocks, unless it is audit. */
  readonly severity?: Severity;
  readonly messages?: readonly ValidationMessage[];
  readonly suggestions?: readonly { readonly path: string; readonly value: unknown }[];
  readonly modified?: boolean;
  readonly payload?: unknown;
  /** What it told beside, in words of its own. */
  readonly info?: Readonly<Record<string, unknown>>;
  /** What a failure was; for the log, never for a client. */
  readonly error?: string;
  /** It failed because a store that it needs cannot be reached. */
  readonly unavailable?: true;
  readonly failedOpen?: true;
  /** What an audit mutator would have changed (RFC 6902), or a simulated one did. */
  readonly diff?: readonly PatchOperation[];
  readonly durationMs: number;
}

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
  readonly skipped: readonly SkippedEntry[];
  /** The payload after all mutations; absent unless the status is `success`. */
  readonly finalPayload?: unknown;
  /** The answer that an interceptor gave in place of the operation, and which interceptor. */
  readonly response?: { readonly interceptor: string; readonly result: object };
  /** How many validators objected, by severity; those that are audit too. */
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

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

type About = Pick<ChainResult, 'event' | 'phase'>;

/** The result if no interceptor hooks the event. */
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

/** The result if the time was up before all hosts were listed. */
export function undiscoveredInTime({ event, phase }: About, totalDurationMs: number): ChainResult {
  const { finalPayload: _none, ...empty } = passed({ event, phase, payload: undefined });
  const reason = 'the hosts were not listed in time';
  const abortedAt = { interceptor: '', host: '', reason, type: 'timeout' } as const;
  return { ...empty, status: 'timeout', totalDurationMs, abortedAt };
}

export function summaryOf(results: readonly EntryResult[]): ChainResult['validationSummary'] {
  const count = { error: 0, warn: 0, info: 0 };
  for (const { severity } of results) if (severity) count[severity]++;
  return { errors: count.error, warnings: count.warn, infos: count.info };
}
