import { coversPattern } from '../protocol/events.js';
import type {
  Hook,
  InterceptorDescriptor,
  InterceptorType,
  Mode,
  Phase,
  PriorityHint,
} from '../protocol/types.js';
import { frozenConfig } from './frozen.js';
import type { Invocation } from './invocation.js';
import { Scope, type MutationScope } from './scope.js';
import { conditionOf, type WhenPredicate, type WhenRule } from './when.js';

/** Name of the host that this process's own interceptors run on. */
export const LOCAL_HOST = 'local';

/** What the invoker decides for an interceptor, over what the interceptor's author declared. */
export interface InterceptorOverrides {
  readonly failOpen?: boolean;
  /** Replaces the declared priority whole. */
  readonly priorityHint?: PriorityHint;
  readonly mode?: Mode;
  /** Milliseconds. */
  readonly timeoutMs?: number;
  /** A subset of the declared hooks. */
  readonly hooks?: readonly Hook[];
  /** A further condition. */
  readonly when?: WhenRule;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** What only this process's own interceptors can have; nothing of it goes on the wire. */
export interface LocalTraits {
  /** `true`: runs again on the payload as it stands after all mutations. `'only'`: runs only then. */
  readonly final?: boolean | 'only';
  /** Whether the interceptor applies to this message at all. */
  readonly when?: WhenPredicate | WhenRule;
  /** What a mutator may change, as JSON Pointers. */
  readonly scope?: MutationScope;
  /** Whether its response phase also sees results that ask the client for input. */
  readonly inputRequired?: boolean;
  /** `some` keeps the interceptor out of simulations. */
  readonly sideEffects?: 'none' | 'some';
  /** Milliseconds. */
  readonly timeoutMs?: number;
}

/** An interceptor, the host it runs on, and how to reach it there. */
export interface ChainEntry {
  /** Name of the host, unique in the chain. */
  readonly host: string;
  readonly descriptor: InterceptorDescriptor;
  readonly overrides?: InterceptorOverrides;
  readonly traits?: LocalTraits;
  /** Says what is wrong with a configuration, by the descriptor's `configSchema`. */
  readonly checkConfig?: (config: Readonly<Record<string, unknown>>) => string | undefined;
  /** Runs it. Whatever it settles with is checked. */
  readonly invoke: (invocation: Invocation) => unknown;
  /** Turns what it settled with, for the payload that it was given, into a result as on the wire. Default: it is one. */
  readonly read?: (value: unknown, name: string, payload: unknown) => unknown;
}

/**
 * An entry with its policy resolved: what counts is the override, else the declaration, else the default. All that a run
 * reads is in one object.
 */
export interface PreparedEntry extends Pick<ChainEntry, 'host' | 'descriptor' | 'invoke'> {
  readonly name: string;
  readonly type: InterceptorType;
  readonly compat: InterceptorDescriptor['compat'];
  readonly when: WhenPredicate | undefined;
  readonly checkConfig: ChainEntry['checkConfig'];
  readonly read: ChainEntry['read'];
  readonly mode: Mode;
  readonly failOpen: boolean;
  readonly hooks: readonly Hook[];
  readonly priority: Readonly<Record<Phase, number>>;
  /** Undefined: the chain's default. */
  readonly timeoutMs: number | undefined;
  readonly config: Readonly<Record<string, unknown>> | undefined;
  /** Under which names a run's configuration is for it, the more exact one last. */
  readonly configNames: readonly string[];
  /** What it may change. */
  readonly scope: Readonly<Record<Phase, Scope>>;
  readonly traits: LocalTraits;
}

/**
 * What an interceptor is called in policies, the more exact name last. A name with a slash in it could be another host's
 * `host/name`, and hosts choose the names of theirs.
 */
export const namesOf = ({ host, descriptor: { name } }: Pick<ChainEntry, 'host' | 'descriptor'>): string[] =>
  name.includes('/') ? [`${host}/${name}`] : [name, `${host}/${name}`];

/** The same for what only it may be told: a name that a local interceptor has is that one's alone. */
export function configNames(entries: readonly ChainEntry[]): (entry: ChainEntry) => string[] {
  const isLocal = ({ host }: ChainEntry) => host === LOCAL_HOST;
  const local = new Set(entries.filter(isLocal).map(({ descriptor }) => descriptor.name));
  return entry =>
    isLocal(entry) || !local.has(entry.descriptor.name) ? namesOf(entry) : namesOf(entry).slice(-1);
}

/** An override that the interceptor it is for does not admit. */
export class OverrideError extends Error {}

/**
 * Resolves an entry's policy.
 * @param names under which a run's configuration is for it
 * @throws OverrideError where an override's hooks reach beyond the declared ones
 */
export function prepare(entry: ChainEntry, names: readonly string[] = namesOf(entry)): PreparedEntry {
  const { descriptor, overrides = {}, traits = {}, host, checkConfig, invoke, read } = entry;
  const { name, type, compat } = descriptor;
  const hooks = overrides.hooks ?? descriptor.hooks;
  const wider = overrides.hooks?.flatMap(hook =>
    hook.events.filter(event => !covers(descriptor.hooks, event, hook.phase)),
  );
  if (wider !== undefined && wider.length > 0) {
    throw new OverrideError(
      `the override of "${name}" hooks ${[...new Set(wider)].join(', ')}, which "${name}" does not; an override can only narrow`,
    );
  }
  return {
    name,
    host,
    type,
    compat,
    when: conditionOf(traits.when, overrides.when),
    checkConfig,
    invoke,
    read,
    descriptor,
    hooks,
    traits,
    mode: overrides.mode ?? descriptor.mode ?? 'active',
    failOpen: overrides.failOpen ?? descriptor.failOpen ?? false,
    priority: resolvePriority(overrides.priorityHint ?? descriptor.priorityHint),
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
