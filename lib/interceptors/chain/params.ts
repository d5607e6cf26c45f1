import type { Direction, InvocationContext, Phase } from '../protocol/types.js';
import type { Beside } from './beside.js';
import type { Clock } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import type { EntryResult } from './result.js';

/** A message, and how a chain runs on it. */
export interface ChainParams {
  /** Such as `tools/call`, or an event of your own: `namespace/operation`. */
  readonly event: string;
  readonly phase: Phase;
  /** `send`: mutate, then validate. `receive`: validate, then mutate. */
  readonly direction: Direction;
  /** The bare params, or the bare result. It is never changed: mutators make another. */
  readonly payload: unknown;
  readonly request?: unknown;
  /** Only these, by `name` or `host/name`. Default: all. */
  readonly interceptors?: readonly string[];
  /** Only the mutators, and no sinks: what would become of the payload. */
  readonly mutatorsOnly?: boolean;
  /** The payload is a result that asks for input: only interceptors that want to see those. */
  readonly inputRequired?: boolean;
  /** Configuration by `name` or `host/name`; it wins over an override's. A name that a local interceptor has is its alone. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Bounds the whole run, in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  readonly context?: InvocationContext;
  readonly signal?: AbortSignal;
  /** The negotiated revision, against which `compat` is checked. Default: everything is compatible. */
  readonly protocolVersion?: string;
  readonly bag?: Map<unknown, unknown>;
  /** Says why a payload is none for the event; a mutation that makes one such is a failure of the mutator. */
  readonly checkPayload?: (payload: unknown) => string | undefined;
  /** The same of what a mutator of the request phase answers with `respondWith`. */
  readonly checkResponse?: (result: object) => string | undefined;
  /** Decides without acting: only interceptors without side effects run, and every mutator reports its diff. */
  readonly simulate?: boolean;
}

export const DEFAULT_TIMEOUT_MS = 1000;
export const MAX_TIMEOUT_MS = 30_000;

/** One turn of an interceptor, as it is observed. */
export interface ObservedTurn {
  run<T>(work: () => T): T;
  /** @param result undefined if the interceptor did not apply */
  end(result: Pick<EntryResult, 'outcome' | 'durationMs' | 'failedOpen'> | undefined): void;
}

export interface ChainOptions {
  /** What one interceptor may take where nobody says otherwise, in milliseconds. Default: 1,000. */
  readonly defaultTimeoutMs?: number;
  /** What one interceptor may take whatever anybody says, in milliseconds. Default: 30,000. */
  readonly maxTimeoutMs?: number;
  readonly clock?: Clock;
  /** Bounds the audit interceptors that nobody waits for. Default: a bound of the chain's own. */
  readonly beside?: Beside;
  /** Observes each turn of a validator or mutator. Default: nobody does. */
  readonly observe?: (
    entry: Pick<PreparedEntry, 'name' | 'host' | 'type' | 'mode'>,
    params: Pick<ChainParams, 'event' | 'phase' | 'payload'>,
  ) => ObservedTurn | undefined;
  /** Told of every sink that failed; nobody waits for one. */
  readonly onSinkError?: (entry: PreparedEntry, error: string) => void;
}
