import type { Result } from '@modelcontextprotocol/server';
import type { Params } from '../protocol/mcp-call.js';
import { isList, LIST_MEMBERS, rowsOf, type ListMethod } from './known-lists.js';

/** What stands between a backend's prefix and a name of its own. */
const SEPARATOR = '_';

export const withPrefix = (prefix: string | undefined, name: string): string =>
  prefix === undefined ? name : `${prefix}${SEPARATOR}${name}`;

/** A name as the backend has it, if it has the backend's prefix. */
export function withoutPrefix(prefix: string | undefined, name: string): string | undefined {
  if (prefix === undefined) return name;
  const start = `${prefix}${SEPARATOR}`;
  return name.startsWith(start) ? name.slice(start.length) : undefined;
}

/** The params of a call that names a tool or a prompt, with another name in them. */
export function renamed(params: Params, name: string): Params {
  if (!('ref' in params)) return { ...params, name };
  return { ...params, ref: { ...(params['ref'] as Params), name } };
}

/** A result as clients see it: the tools and prompts of a list carry the backend's prefix. */
export function prefixed(prefix: string | undefined, method: string, result: Result): Result {
  if (prefix === undefined || !isList(method) || !NAMED.has(method)) return result;
  const rows = rowsOf(method, result).map(row => ({ ...row, name: withPrefix(prefix, String(row['name'])) }));
  return { ...result, [LIST_MEMBERS[method]]: rows };
}

const NAMED = new Set<ListMethod>(['tools/list', 'prompts/list']);
