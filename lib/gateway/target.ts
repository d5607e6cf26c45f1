import { ResourceNotFoundError, type Result } from '@modelcontextprotocol/server';
import { compileUriTemplate } from '../protocol/uri-template.js';
import { canonicalUri } from '../interceptors/protocol/subject.js';
import type { Params } from '../protocol/mcp-call.js';
import {
  isList,
  listOf,
  rowsOf,
  type DispatchedMethod,
  type ListMethod,
  type Row,
} from '../protocol/methods.js';
import { asObject, requireString } from '../protocol/params.js';
import { unknownPrompt, unknownTool } from '../protocol/unknown.js';

export interface Target {
  /** A URI, or a name with the backend's prefix. */
  readonly id: string;
  readonly isNamed: boolean;
  /** The best match first. */
  readonly lookups: readonly { readonly list: ListMethod; readonly is: (row: Row) => boolean }[];
  readonly unknown: Error;
}

/** @throws McpException (-32602) for params that name nothing */
export function targetOf(method: Exclude<DispatchedMethod, ListMethod>, params: Params): Target {
  switch (method) {
    case 'tools/call':
      return named('tools/list', requireString(params, 'name'), unknownTool);
    case 'prompts/get':
      return named('prompts/list', requireString(params, 'name'), unknownPrompt);
    case 'completion/complete': {
      const ref = asObject(params['ref'], 'ref');
      return ref['type'] === 'ref/prompt'
        ? named('prompts/list', requireString(ref, 'name'), unknownPrompt)
        : template(requireString(ref, 'uri'));
    }
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return resource(requireString(params, 'uri'));
  }
}

const named = (list: ListMethod, name: string, unknown: (name: string) => Error): Target => ({
  id: name,
  isNamed: true,
  lookups: [{ list, is: row => row['name'] === name }],
  unknown: unknown(name),
});

function template(uri: string): Target {
  const is = (row: Row) => row['uriTemplate'] === uri || row['uri'] === uri;
  return listed(uri, [
    { list: 'resources/templates/list', is },
    { list: 'resources/list', is },
  ]);
}

/** A resource may be listed by its URI, by another spelling of it, or by a template. */
function resource(uri: string): Target {
  const canonical = canonicalUri(uri);
  return listed(uri, [
    { list: 'resources/list', is: row => row['uri'] === uri },
    { list: 'resources/list', is: row => canonicalUri(String(row['uri'])) === canonical },
    { list: 'resources/templates/list', is: row => matches(row['uriTemplate'], uri) },
  ]);
}

const listed = (uri: string, lookups: Target['lookups']): Target => ({
  id: uri,
  isNamed: false,
  lookups,
  unknown: new ResourceNotFoundError(uri),
});

function matches(uriTemplate: unknown, uri: string): boolean {
  try {
    return typeof uriTemplate === 'string' && compileUriTemplate(uriTemplate).match(uri) !== undefined;
  } catch {
    // The backend may use templates that this process cannot parse.
    return false;
  }
}

export function withoutPrefix(prefix: string | undefined, name: string): string | undefined {
  if (prefix === undefined) return name;
  return name.startsWith(`${prefix}_`) ? name.slice(prefix.length + 1) : undefined;
}

export function renamed(params: Params, name: string): Params {
  if (!('ref' in params)) return { ...params, name };
  return { ...params, ref: { ...(params['ref'] as Params), name } };
}

/** Adds the prefix to the names of tools and prompts in a list. */
export function prefixed(prefix: string | undefined, method: string, result: Result): Result {
  if (prefix === undefined || !isList(method) || listOf(method).key !== 'name') return result;
  const rows = rowsOf(method, result).map(row => ({ ...row, name: `${prefix}_${String(row['name'])}` }));
  return { ...result, [listOf(method).lists]: rows };
}
