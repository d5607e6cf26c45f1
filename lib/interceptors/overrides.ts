import type { ChainEntry, InterceptorOverrides } from './chain/entry.js';
import { LOCAL_HOST } from './hosts/local-host.js';
import type { InterceptorOverride } from './interceptor-options.js';
import { readHooks } from './protocol/read-descriptor.js';

/** What an application decides for its interceptors. */
export interface Policy {
  /** By `name` or `host/name`, in layers of which the later one wins, field by field. */
  readonly overrides: readonly Readonly<Record<string, InterceptorOverride>>[];
  /**
   * Configuration by `name` or `host/name`; it wins over an override's. A name that a local interceptor has is that one's
   * alone: other hosts choose the names of theirs.
   */
  readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A policy that the interceptors that it is for do not admit. */
export class PolicyMismatchError extends Error {}

/**
 * Lays a policy over what the interceptors declare. In each layer, a key `host/name` is for one host's interceptor alone,
 * and wins over `name`, field by field.
 * @throws PolicyMismatchError for a configuration that its `configSchema` refuses
 */
export function withOverrides(entries: readonly ChainEntry[], { overrides, config }: Policy): ChainEntry[] {
  const local = new Set(entries.filter(isLocal).map(({ descriptor }) => descriptor.name));
  return entries.map(entry => {
    const { name } = entry.descriptor;
    const found = overrides.flatMap(layer =>
      keysOf(entry).flatMap(key => (Object.hasOwn(layer, key) ? [overrideOf(layer[key])] : [])),
    );
    const [own, exact] = keysOf(entry);
    const key = [exact, ...(isLocal(entry) || !local.has(own) ? [own] : [])].find(one =>
      Object.hasOwn(config, one),
    );
    if (key !== undefined) found.push({ config: config[key] });
    if (found.length === 0) return entry;
    const override = Object.assign({}, ...found) as InterceptorOverrides;
    const problem = override.config && entry.checkConfig?.(override.config);
    if (problem === undefined) return { ...entry, overrides: override };
    throw new PolicyMismatchError(`the configuration of "${name}" is invalid: ${problem}`);
  });
}

/** The names in a policy that no interceptor has. */
export function unknownNames(entries: readonly ChainEntry[], { overrides, config }: Policy): string[] {
  const known = new Set(entries.flatMap(keysOf));
  const named = [...overrides, config].flatMap(layer => Object.keys(layer));
  return [...new Set(named.filter(key => !known.has(key)))];
}

/** The more exact one last. */
const keysOf = ({ host, descriptor: { name } }: ChainEntry): [string, string] => [name, `${host}/${name}`];

const isLocal = ({ host }: ChainEntry): boolean => host === LOCAL_HOST;

function overrideOf({
  failOpen,
  priority,
  mode,
  timeoutMs,
  hooks,
  config,
}: InterceptorOverride): InterceptorOverrides {
  return {
    ...(failOpen !== undefined && { failOpen }),
    ...(priority !== undefined && { priorityHint: priority }),
    ...(mode !== undefined && { mode: mode === 'audit' ? 'audit' : 'active' }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(hooks && { hooks: readHooks(hooks) }),
    ...(config && { config }),
  };
}
