export const INTERCEPTORS_EXTENSION = 'io.modelcontextprotocol/interceptors';

/** `request`: before the operation is carried out. `response`: before its result is delivered. */
export type Phase = 'request' | 'response';

export type Direction = 'send' | 'receive';

/** `active` decides; `audit` only reports what it would have decided. */
export type Mode = 'active' | 'audit';

/** How much an objection is: `error` blocks, the others only tell. */
export type Severity = 'info' | 'warn' | 'error';

export type InterceptorType = 'validation' | 'mutation' | 'sink';

export interface Hook {
  readonly events: readonly string[];
  readonly phase: Phase;
}

/** Ordering of mutators: 32-bit integers, lower first; a missing side is 0. */
export type PriorityHint = number | { readonly request?: number; readonly response?: number };

export const REVISION_PATTERN = String.raw`^\d{4}-\d{2}-\d{2}$`;

export const PRINCIPAL_TYPES = ['user', 'service', 'anonymous'] as const;

/** An interceptor as `interceptors/list` describes it. A field that holds its default is left out. */
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

export interface Principal {
  /** A user, a program on its own behalf, or nobody who is known. */
  readonly type: (typeof PRINCIPAL_TYPES)[number];
  readonly id?: string;
  /** What else the application's authentication knows of them. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** What an interceptor is told of the caller and the trace of a message. Members that are not known are left out. */
export interface InvocationContext {
  /** The caller. */
  readonly principal?: Principal;
  /** W3C Trace Context: 32 hexadecimal digits. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly timestamp?: string;
  /** The session; a 2026-07-28 request has none. */
  readonly sessionId?: string;
  /** What interceptors of one chain hand on, where the party that runs it keeps such. */
  readonly interceptorState?: Readonly<Record<string, unknown>>;
}

/** Params of `interceptor/invoke`. The payload is the operation's bare params, or its bare result. */
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
  /** Path of the offending value, as in `arguments.city`. */
  readonly path?: string;
  readonly message: string;
  /** `error` blocks; `warn` and `info` only tell. */
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
  /** The new payload; the one received where not `modified`. */
  readonly payload: unknown;
}

export interface SinkResult extends ResultBase {
  readonly type: 'sink';
  readonly recorded: boolean;
  readonly metrics?: Readonly<Record<string, number>>;
}
