import { configNames, namesOf, type ChainEntry, type InterceptorOverride } from './chain/entry.js';
import { defined } from '../util/defined.js';

export interface Policy {
  /** Overrides by `name` or `host/name`, in layers. A later layer replaces single fields of an earlier layer. */
  readonly overrides: readonly Readonly<Record<string, InterceptorOverride>>[];
  /** By `name` or `host/name`, in the same layers; wins over the configuration of an override. */
  readonly config: readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[];
}

/** In each layer, the fields of `host/name` replace the fields of `name`. */
export function withOverrides(entries: readonly ChainEntry[], { overrides, config }: Policy): ChainEntry[] {
  const namesFor = configNames(entries);
  const configs = Object.assign({}, ...config) as Policy['config'][number];
  return entries.map(entry => {
    const { name } = entry.descriptor;
    const found = overrides.flatMap(layer =>
      namesOf(entry).flatMap(key => (Object.hasOwn(layer, key) ? [defined(layer[key])] : [])),
    );
    const key = namesFor(entry).findLast(one => Object.hasOwn(configs, one));
    if (key !== undefined) found.push({ config: configs[key] });
    if (found.length === 0) return entry;
    const override = Object.assign({}, ...found) as InterceptorOverride;
    const problem = override.config && entry.checkConfig?.(override.config);
    if (problem === undefined) return { ...entry, overrides: override };
    throw new Error(`the configuration of "${name}" is invalid: ${problem}`);
  });
}

export function unknownNames(entries: readonly ChainEntry[], { overrides, config }: Policy): string[] {
  const known = new Set(entries.flatMap(namesOf));
  const named = [...overrides, ...config].flatMap(layer => Object.keys(layer));
  return [...new Set(named.filter(key => !known.has(key)))];
}
