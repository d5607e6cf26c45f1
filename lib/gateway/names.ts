import type { Result } from '@modelcontextprotocol/server';
import type { Params } from '../server/dispatcher.js';
import { isList, LISTS, rowsOf } from './methods.js';

/** Stands between a backend's prefix and a name. */
const SEPARATOR = '_';

/** The backend's own name of a tool or prompt; undefined if the name has another prefix. */
export function withoutPrefix(prefix: string | undefined, name: string): string | undefined {
  if (prefix === undefined) return name;
  const start = `${prefix}${SEPARATOR}`;
  return name.startsWith(start) ? name.slice(start.length) : undefined;
}

/** The params of a request for a tool or prompt, with another name. */
export function renamed(params: Params, name: string): Params {
  if (!('ref' in params)) return { ...params, name };
  return { ...params, ref: { ...(params['ref'] as Params), name } };
}

/** A backend's result with the prefix before the names of tools and prompts in a list. */
export function prefixed(prefix: string | undefined, method: string, result: Result): Result {
  if (prefix === undefined || !isList(method) || LISTS[method].key !== 'name') return result;
  const rows = rowsOf(method, result).map(row => ({
    ...row,
    name: `${prefix}${SEPARATOR}${String(row['name'])}`,
  }));
  return { ...result, [LISTS[method].member]: rows };
}
