import { declareOnMethod } from '../../decorators/metadata.js';
import type { LocalTraits } from '../chain/entry.js';
import type { InterceptionEvent } from '../payloads.js';
import type { Hook, InterceptorDescriptor, InterceptorType, Mode, PriorityHint } from '../protocol/types.js';

export interface InterceptorOptions {
  /** Name, unique among the application's interceptors. Default: the method's name. */
  name?: string;
  /** The interceptor's version, shown to clients. Default: none. */
  version?: string;
  /** Description for people. Default: none. */
  description?: string;
  /** Events to hook: `tools/call`, `tools/*`, `*`, or a custom event. */
  events?: readonly InterceptionEvent[];
  /** Phase in which the events are hooked. Default: `request`. */
  phase?: 'request' | 'response' | 'both';
  /** Several hooks, instead of `events` and `phase`. */
  hooks?: readonly { events: readonly InterceptionEvent[]; phase: Hook['phase'] | 'both' }[];
  /** `active` decides; `audit` only reports. Default: `active`. */
  mode?: Mode | 'enforce';
  /** Whether a message passes if the interceptor crashes or times out. It has no effect on a sink. Default: false. */
  failOpen?: boolean;
  /** Timeout of one invocation, in milliseconds. Default: 1,000. */
  timeoutMs?: number;
  /** The supported protocol revisions. Default: all. */
  compat?: InterceptorDescriptor['compat'];
  /** JSON Schema of its configuration, checked before each invocation. */
  configSchema?: Readonly<Record<string, unknown>>;
  /** The intercepted server. Default: all servers of the application. */
  server?: string;
  /**
   * Applies the interceptor only to some messages: a rule, such as `{ name: 'pay_*' }`, or a predicate of the
   * invocation. Default: all messages.
   */
  when?: LocalTraits['when'];
  /** Whether the response phase also sees `input_required` results (2026-07-28: basic/patterns/mrtr). Default: false. */
  inputRequired?: LocalTraits['inputRequired'];
  /** `some` excludes it from `simulate`. Default: `none` for validators and mutators, `some` for sinks. */
  sideEffects?: LocalTraits['sideEffects'];
}

/** Options of `@Validator`. */
export interface ValidatorOptions extends InterceptorOptions {
  /**
   * For messages that are received and then mutated: `true` runs it again on the result, `'only'` runs it only there.
   * Default: false.
   */
  final?: LocalTraits['final'];
}

/** Options of `@Mutator`. */
export interface MutatorOptions extends InterceptorOptions {
  /** Order among mutators: a 32-bit integer, or one integer for each phase; a lower number runs first. Default: 0. */
  priority?: PriorityHint;
  /** The parts that the mutator may change. Default: all except a request's `name` and `uri`. */
  scope?: LocalTraits['scope'];
}

/** Options of `@Sink`. */
export type SinkOptions = InterceptorOptions;

export interface InterceptorMetadata {
  readonly type: InterceptorType;
  readonly options: ValidatorOptions & MutatorOptions;
}

/** Key of the options of `@Validator`, `@Mutator` and `@Sink`. */
export const INTERCEPTOR_METADATA = 'nestjs-mcp:interceptors';

/** Without options, an interceptor has no hooks; the bootstrap reports it. */
const declareInterceptor = (
  type: InterceptorMetadata['type'],
  options: InterceptorMetadata['options'] | null | undefined,
): MethodDecorator =>
  declareOnMethod(INTERCEPTOR_METADATA, { type, options: options ?? {} }, 'an interceptor');

/**
 * Makes a provider's method a validator (SEP-2624). It returns a boolean, `allow()`, `deny(…)`, a list of these, or a
 * `ValidationResult`. Returning nothing is a failure.
 * @example
 * ```ts
 * @Validator({ events: ['tools/call'] })
 * limit({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
 *   return payload.name !== 'pay' || deny('Payments are closed', { path: 'name' });
 * }
 * ```
 */
export const Validator = (options: ValidatorOptions): MethodDecorator =>
  declareInterceptor('validation', options);

/**
 * Makes a provider's method a mutator (SEP-2624). It returns the new payload, `undefined` to keep it,
 * `{ modified, payload, info }`, or `respondWith(result)`. Its payload is read-only.
 * @example
 * ```ts
 * @Mutator({ events: ['tools/call'] })
 * trim({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
 *   return { ...payload, arguments: { ...payload.arguments, traced: true } };
 * }
 * ```
 */
export const Mutator = (options: MutatorOptions): MethodDecorator => declareInterceptor('mutation', options);

/**
 * Makes a provider's method a sink (SEP-2624). It receives payloads after the decision. Calls do not wait for it, and
 * its failures are logged.
 * @example
 * ```ts
 * @Sink({ events: ['*'], phase: 'both' })
 * record({ event, phase }: InterceptorInvocation) {
 *   this.journal.write(event, phase);
 * }
 * ```
 */
export const Sink = (options: SinkOptions): MethodDecorator => declareInterceptor('sink', options);
