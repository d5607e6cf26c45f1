import type { Principal } from '../../protocol/principal.js';

export type { Principal };
export const PRINCIPAL_TYPES = [
  'user',
  'service',
  'anonymous',
] as const satisfies readonly Principal['type'][];

export const INTERCEPTORS_EXTENSION = 'io.modelcontextprotocol/interceptors';

/** `request` runs before the operation. `response` runs before its result is delivered. */
export type Phase = 'request' | 'response';

export type Direction = 'send' | 'receive';

/** `active` decides; `audit` only reports what it would have decided. */
export type Mode = 'active' | 'audit';

/** The severity of an objection: `error` blocks, `warn` and `info` only report. */
export type Severity = 'info' | 'warn' | 'error';

export type InterceptorType = 'validation' | 'mutation' | 'sink';

export interface Hook {
  readonly events: readonly string[];
  readonly phase: Phase;
}

/** Order of mutators: 32-bit integers, the lower number first; a missing phase is 0. */
export type PriorityHint = number | { readonly request?: number; readonly response?: number };

export const REVISION_PATTERN = String.raw`^\d{4}-\d{2}-\d{2}$`;

/** An interceptor as `interceptors/list` describes it. Fields that hold their default are left out. */
export interface InterceptorDescriptor {
  /** Unique on its host. */
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly type: InterceptorType;
  readonly hooks: readonly Hook[];
  /** Default: `active`. */
  readonly mode?: Mode;
  readonly failOpen?: boolean;
  /** Default: 0. Ignored for validators and sinks. */
  readonly priorityHint?: PriorityHint;
  readonly compat?: { readonly minProtocol: string; readonly maxProtocol?: string };
  readonly configSchema?: Readonly<Record<string, unknown>>;
}

/** Facts about the caller and the trace of a message. Unknown fields are left out. */
export interface InvocationContext {
  /** The caller. */
  readonly principal?: Principal;
  /** W3C Trace Context: 32 hexadecimal digits. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly timestamp?: string;
  /** The session. A 2026-07-28 request does not have a session. */
  readonly sessionId?: string;
  /** State that interceptors of one chain share, if the invoker keeps such state. */
  readonly interceptorState?: Readonly<Record<string, unknown>>;
}

/** Params of `interceptor/invoke`. The payload holds the params or the result of the operation. */
export interface InvokeParams {
  readonly name: string;
  readonly event: string;
  readonly phase: Phase;
  readonly payload: unknown;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
  readonly context?: InvocationContext;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

interface ResultBase {
  readonly interceptor: string;
  readonly phase: Phase;
  readonly durationMs?: number;
  readonly info?: Readonly<Record<string, unknown>>;
}

export interface ValidationMessage {
  /** Path of the offending value, such as `arguments.city`. */
  readonly path?: string;
  readonly message: string;
  /** `error` blocks; `warn` and `info` only report. */
  readonly severity: Severity;
}

export interface ValidationResult extends ResultBase {
  readonly type: 'validation';
  readonly valid: boolean;
  readonly severity?: Severity;
  readonly messages?: readonly ValidationMessage[];
  readonly suggestions?: readonly { readonly path: string; readonly value: unknown }[];
}

export interface MutationResult extends ResultBase {
  readonly type: 'mutation';
  readonly modified: boolean;
  /** The new payload. If `modified` is false, the received payload. */
  readonly payload: unknown;
}

export interface SinkResult extends ResultBase {
  readonly type: 'sink';
  readonly recorded: boolean;
  readonly metrics?: Readonly<Record<string, number>>;
}
