import { coversPattern } from '../protocol/events.js';
import { readHooks } from '../protocol/read-descriptor.js';
import type {
  Hook,
  InterceptorDescriptor,
  InterceptorType,
  Mode,
  Phase,
  PriorityHint,
} from '../protocol/types.js';
import { frozenConfig } from './frozen.js';
import type { Invocation } from './result.js';
import { type MutationScope, Scope } from './scope.js';
import { conditionOf, type WhenPredicate, type WhenRule } from './when.js';

export const LOCAL_HOST = 'local';

/** What the options or the policy file change of one interceptor. Fields that are left out stay as its author declared them. */
export interface InterceptorOverride {
  /** Whether messages pass if the interceptor itself fails. */
  failOpen?: boolean;
  /** Replaces the whole declared priority. */
  priority?: PriorityHint;
  /** Replaces the declared mode, so that a change from `audit` to `active` needs no change of code. `enforce` is `active`. */
  mode?: 'active' | 'enforce' | 'audit';
  /** Deadline in milliseconds. For a remote interceptor, it can only shorten the deadline of its host. */
  timeoutMs?: number;
  /** A subset of the declared hooks. */
  hooks?: readonly { readonly events: readonly string[]; readonly phase: Phase | 'both' }[];
  /** A further condition, in addition to the author's. Remote interceptors are only invoked if it holds. */
  when?: WhenRule;
  /** Configuration, checked against the `configSchema`. */
  config?: Record<string, unknown>;
}

/** Fields that are never sent to a client. */
export interface LocalTraits {
  /** `true`: runs again on the payload after all mutations. `'only'`: runs only then. */
  readonly final?: boolean | 'only';
  readonly when?: WhenPredicate | WhenRule;
  readonly scope?: MutationScope;
  readonly inputRequired?: boolean;
  /** `some` excludes the interceptor from simulations. */
  readonly sideEffects?: 'none' | 'some';
  readonly timeoutMs?: number;
}

export interface ChainEntry {
  readonly host: string;
  readonly descriptor: InterceptorDescriptor;
  readonly overrides?: InterceptorOverride;
  readonly traits?: LocalTraits;
  readonly checkConfig?: (config: Readonly<Record<string, unknown>>) => string | undefined;
  readonly invoke: (invocation: Invocation) => unknown;
  /**
   * Converts the return value for a given payload into a result of the protocol. Default: the value is such a result.
   */
  readonly read?: (value: unknown, name: string, payload: unknown) => unknown;
}

/** An entry with its resolved policy: the override, then the declaration, then the default. */
export interface PreparedEntry extends ChainEntry {
  readonly name: string;
  readonly type: InterceptorType;
  readonly compat: InterceptorDescriptor['compat'];
  readonly when: WhenPredicate | undefined;
  readonly mode: Mode;
  readonly failOpen: boolean;
  readonly hooks: readonly Hook[];
  readonly priority: Readonly<Record<Phase, number>>;
  readonly timeoutMs: number | undefined;
  readonly config: Readonly<Record<string, unknown>> | undefined;
  readonly configNames: readonly string[];
  readonly scope: Readonly<Record<Phase, Scope>>;
  readonly traits: LocalTraits;
}

/**
 * Names of an interceptor in policies, the exact name last. A name with a slash needs its host, because another host
 * could claim it.
 */
export const namesOf = ({ host, descriptor: { name } }: Pick<ChainEntry, 'host' | 'descriptor'>): string[] =>
  name.includes('/') ? [`${host}/${name}`] : [name, `${host}/${name}`];

/**
 * The names under which an interceptor gets its configuration. A name of a local interceptor never configures a remote
 * interceptor.
 */
export function configNames(entries: readonly ChainEntry[]): (entry: ChainEntry) => string[] {
  const isLocal = ({ host }: ChainEntry) => host === LOCAL_HOST;
  const local = new Set(entries.filter(isLocal).map(({ descriptor }) => descriptor.name));
  return entry =>
    isLocal(entry) || !local.has(entry.descriptor.name) ? namesOf(entry) : namesOf(entry).slice(-1);
}

/** @throws Error if the hooks of an override exceed the declared hooks */
export function prepare(entry: ChainEntry, names: readonly string[] = namesOf(entry)): PreparedEntry {
  const { descriptor, overrides = {}, traits = {} } = entry;
  const { name, type, compat } = descriptor;
  const narrowed = overrides.hooks && readHooks(overrides.hooks);
  const mode = overrides.mode ?? descriptor.mode;
  const wider = narrowed?.flatMap(hook =>
    hook.events.filter(event => !covers(descriptor.hooks, event, hook.phase)),
  );
  if (wider !== undefined && wider.length > 0) {
    throw new Error(
      `the override of "${name}" hooks ${[...new Set(wider)].join(', ')}, which "${name}" does not hook; an override can only narrow its hooks`,
    );
  }
  return {
    ...entry,
    name,
    type,
    compat,
    when: conditionOf(traits.when, overrides.when),
    hooks: narrowed ?? descriptor.hooks,
    traits,
    mode: mode === 'audit' ? mode : 'active',
    failOpen: overrides.failOpen ?? descriptor.failOpen ?? false,
    priority: resolvePriority(overrides.priority ?? descriptor.priorityHint),
    timeoutMs: overrides.timeoutMs ?? traits.timeoutMs,
    config: overrides.config && frozenConfig(overrides.config),
    configNames: names,
    scope: { request: new Scope(traits.scope, 'request'), response: new Scope(traits.scope, 'response') },
  };
}

const covers = (hooks: readonly Hook[], event: string, phase: Phase): boolean =>
  hooks.some(hook => hook.phase === phase && hook.events.some(pattern => coversPattern(pattern, event)));

const resolvePriority = (hint: PriorityHint = 0): Record<Phase, number> =>
  typeof hint === 'number'
    ? { request: hint, response: hint }
    : { request: hint.request ?? 0, response: hint.response ?? 0 };

export function resolvedDescriptor(entry: PreparedEntry): InterceptorDescriptor {
  const { mode: _mode, failOpen: _failOpen, priorityHint: _priority, ...declared } = entry.descriptor;
  const { hooks, mode, failOpen } = entry;
  const { request, response } = entry.priority;
  const each = { ...(request !== 0 && { request }), ...(response !== 0 && { response }) };
  return {
    ...declared,
    hooks,
    ...(mode === 'audit' && { mode }),
    ...(failOpen && { failOpen }),
    ...((request || response) && { priorityHint: request === response ? request : each }),
  };
}
