import type { ChainEntry, InterceptorOverrides } from './chain/entry.js';
import type { InterceptorOverride } from './interceptor-options.js';
import { readHooks } from './protocol/read-descriptor.js';

/** What an application decides for its interceptors. */
export interface Policy {
  readonly overrides: Readonly<Record<string, InterceptorOverride>>;
  /** Configuration by name; it wins over an override's. */
  readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A policy that the interceptors that it is for do not admit. */
export class PolicyMismatchError extends Error {}

/**
 * Lays a policy over what the interceptors declare. A key `host/name` is for one host's interceptor alone, and wins.
 * @throws PolicyMismatchError for a configuration that its `configSchema` refuses
 */
export function withOverrides(entries: readonly ChainEntry[], { overrides, config }: Policy): ChainEntry[] {
  return entries.map(entry => {
    const { descriptor, checkConfig } = entry;
    const key = keysOf(entry).find(one => Object.hasOwn(overrides, one));
    const own = Object.hasOwn(config, descriptor.name) ? config[descriptor.name] : undefined;
    if (key === undefined && own === undefined) return entry;
    const override = { ...(key !== undefined && overrideOf(overrides[key])), ...(own && { config: own }) };
    const problem = override.config && checkConfig?.(override.config);
    if (problem === undefined) return { ...entry, overrides: override };
    throw new PolicyMismatchError(`the configuration of "${key ?? descriptor.name}" is invalid: ${problem}`);
  });
}

/** The names in a policy that no interceptor has. */
export function unknownNames(entries: readonly ChainEntry[], { overrides, config }: Policy): string[] {
  const known = new Set(entries.flatMap(keysOf));
  const names = new Set(entries.map(({ descriptor }) => descriptor.name));
  return [
    ...Object.keys(overrides).filter(key => !known.has(key)),
    ...Object.keys(config).filter(key => !names.has(key)),
  ];
}

const keysOf = ({ host, descriptor: { name } }: ChainEntry): string[] => [`${host}/${name}`, name];

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
