/** The extension's name in `capabilities.extensions` (SEP-2624). */
export const INTERCEPTORS_EXTENSION = 'io.modelcontextprotocol/interceptors';

/** `request`: before the operation is carried out. `response`: before its result is delivered. */
export type Phase = 'request' | 'response';

/** Which way the data crosses the boundary of the party that runs the chain. */
export type Direction = 'send' | 'receive';

/** `active` decides; `audit` only reports what it would have decided. */
export type Mode = 'active' | 'audit';

export type Severity = 'info' | 'warn' | 'error';

export type InterceptorType = 'validation' | 'mutation' | 'sink';

/** Events and the one phase in which they are hooked. */
export interface Hook {
  readonly events: readonly string[];
  readonly phase: Phase;
}

/** Ordering of mutators: 32-bit integers, lower first; a missing side is 0. */
export type PriorityHint = number | { readonly request?: number; readonly response?: number };

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
  /** Whether the message goes on where the interceptor itself fails. Default: false. */
  readonly failOpen?: boolean;
  /** Default: 0. Ignored for validators and sinks. */
  readonly priorityHint?: PriorityHint;
  /** The protocol revisions that it understands. */
  readonly compat?: { readonly minProtocol: string; readonly maxProtocol?: string };
  /** JSON Schema of its configuration. */
  readonly configSchema?: Readonly<Record<string, unknown>>;
}

/** What an interceptor may know of the call around its payload. */
export interface InvocationContext {
  readonly principal?: {
    readonly type: 'user' | 'service' | 'anonymous';
    readonly id?: string;
    readonly claims?: Readonly<Record<string, unknown>>;
  };
  readonly traceId?: string;
  readonly spanId?: string;
  /** ISO 8601. */
  readonly timestamp?: string;
  readonly sessionId?: string;
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
  readonly severity: Severity;
}

export interface ValidationResult extends ResultBase {
  readonly type: 'validation';
  readonly valid: boolean;
  /** Absent where `valid`. */
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

export type InterceptorResult = ValidationResult | MutationResult | SinkResult;
