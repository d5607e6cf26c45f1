import type { ObserveTurn } from '../../protocol/traffic-listener.js';
import type { Direction, InvocationContext, Phase } from '../protocol/types.js';
import type { AuditRuns } from './audit-runs.js';
import type { Clock } from './deadline.js';
import type { PreparedEntry } from './entry.js';

/** A message, and the parameters of a chain run on it. */
export interface ChainParams {
  /** An event such as `tools/call`, or a custom event: `namespace/operation`. */
  readonly event: string;
  readonly phase: Phase;
  /** `send` mutates, then validates. `receive` validates, then mutates. */
  readonly direction: Direction;
  /** The params or the result, without the JSON-RPC envelope. It is never changed: mutators return a new payload. */
  readonly payload: unknown;
  readonly request?: unknown;
  /** Runs only these interceptors, by `name` or `host/name`. Default: all. */
  readonly interceptors?: readonly string[];
  /** Runs only mutators, and no sinks, to compute the resulting payload. */
  readonly mutatorsOnly?: boolean;
  /** Runs only interceptors with `inputRequired`, because the payload is a result that asks for input. */
  readonly inputRequired?: boolean;
  /**
   * Configuration by `name` or `host/name`; it overrides the configuration of an override. The name of a local
   * interceptor refers only to the local interceptor.
   */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Deadline for the whole run, in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  readonly context?: InvocationContext;
  readonly signal?: AbortSignal;
  /** The negotiated revision, to check `compat`. Default: everything is compatible. */
  readonly protocolVersion?: string;
  readonly bag?: Map<unknown, unknown>;
  /** Returns why a payload does not fit the event. A mutator that returns such a payload has failed. */
  readonly checkPayload?: (payload: unknown) => string | undefined;
  /** The same check for an answer of `respondWith`. */
  readonly checkResponse?: (result: object) => string | undefined;
  /** Decides without acting: only interceptors without side effects run, and every mutator reports its diff. */
  readonly simulate?: boolean;
}

export const DEFAULT_TIMEOUT_MS = 1000;
export const MAX_TIMEOUT_MS = 30_000;

export interface ChainOptions {
  /** Default deadline for one interceptor, in milliseconds. Default: 1,000. */
  readonly defaultTimeoutMs?: number;
  /** Maximum deadline for one interceptor, in milliseconds. Default: 30,000. */
  readonly maxTimeoutMs?: number;
  readonly clock?: Clock;
  /** Bounds the audit interceptors that run after the decision. Default: a separate bound for this chain. */
  readonly auditRuns?: AuditRuns;
  /** Observes each run of a validator or mutator. Default: none. */
  readonly observe?: ObserveTurn;
  /** Observes each run of a sink. The chain does not wait for sinks. */
  readonly observeSink?: (entry: PreparedEntry, message: SinkMessage) => (end: SinkEnd) => void;
}

/** The event and phase that a sink records. */
export type SinkMessage = Pick<ChainParams, 'event' | 'phase'>;

/** How a run of a sink ended; `skipped` if its `when` did not hold. */
export type SinkEnd =
  | { readonly outcome: 'recorded'; readonly durationMs: number }
  | { readonly outcome: 'crash' | 'timeout'; readonly durationMs: number; readonly error: string }
  | { readonly outcome: 'skipped' };
