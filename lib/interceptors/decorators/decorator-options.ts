import type { LocalTraits } from '../chain/entry.js';
import type { InterceptionEvent } from '../payloads.js';
import type { Hook, InterceptorDescriptor, InterceptorType, Mode, PriorityHint } from '../protocol/types.js';

/** Options of `@Validator`, `@Mutator` and `@Sink`. */
export interface InterceptorOptions {
  /** Name, unique among the application's interceptors. Default: the method's name. */
  name?: string;
  /** The interceptor's own version, as others are told of it. Default: none. */
  version?: string;
  /** What it does, for people. Default: none. */
  description?: string;
  /** Events to hook: `tools/call`, `tools/*`, `*`, or an event of your own. */
  events?: readonly InterceptionEvent[];
  /** Phase in which the events are hooked. Default: `request`. */
  phase?: 'request' | 'response' | 'both';
  /** Instead of `events` and `phase`: several hooks. */
  hooks?: readonly { events: readonly InterceptionEvent[]; phase: Hook['phase'] | 'both' }[];
  /** `active` decides; `audit` only reports. Default: `active`. */
  mode?: Mode | 'enforce';
  /** Whether a message goes on where the interceptor itself crashes or times out. Default: false. */
  failOpen?: boolean;
  /** Milliseconds that one invocation may take. Default: 1,000. */
  timeoutMs?: number;
  /** The protocol revisions it is for. Default: all. */
  compat?: InterceptorDescriptor['compat'];
  /** JSON Schema of its configuration, checked before each invocation. */
  configSchema?: Readonly<Record<string, unknown>>;
  /** The server whose traffic it governs. Default: all servers of the application. */
  server?: string;
  /**
   * Whether it applies to a message at all; checked first. A rule, such as `{ name: 'pay_*' }`, or a predicate of the
   * invocation; one that throws is a failure of the interceptor. Default: it does.
   */
  when?: LocalTraits['when'];
  /**
   * Whether its response phase also sees results that only ask the client for input (2026-07-28: basic/patterns/mrtr).
   * Default: false.
   */
  inputRequired?: LocalTraits['inputRequired'];
  /** `some` keeps it out of `simulate`. Default: `none` for validators and mutators, `some` for sinks. */
  sideEffects?: LocalTraits['sideEffects'];
}

/** Options of `@Validator`. */
export interface ValidatorOptions extends InterceptorOptions {
  /**
   * Where a message was received and then mutated: `true` runs it again on what it has become, `'only'` runs it on that
   * alone. Default: false.
   */
  final?: LocalTraits['final'];
}

/** Options of `@Mutator`. */
export interface MutatorOptions extends InterceptorOptions {
  /** Order among mutators, a 32-bit integer or one for each phase; lower runs first. Default: 0. */
  priority?: PriorityHint;
  /** What it may change. Default: everything but a request's `name` and `uri`. */
  scope?: LocalTraits['scope'];
}

/** Options of `@Sink`. */
export type SinkOptions = InterceptorOptions;

/** One declaration, as the decorators store it. */
export interface InterceptorMetadata {
  readonly type: InterceptorType;
  readonly options: ValidatorOptions & MutatorOptions;
}
