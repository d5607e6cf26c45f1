import type { Result } from '@modelcontextprotocol/server';
import { compileUriTemplate } from '../protocol/uri-template.js';
import { canonicalUri } from '../interceptors/protocol/subject.js';
import type { Params } from '../protocol/mcp-call.js';
import {
  isList,
  itemOf,
  LIST_OF,
  listOf,
  METHODS,
  rowsOf,
  type ItemKind,
  type ListMethod,
  type NamingMethod,
  type Row,
} from '../protocol/methods.js';
import { asObject, requireString } from '../protocol/params.js';
import { unknownItem } from '../protocol/unknown.js';

export interface Target {
  /** A URI, or a name with the backend's prefix. */
  readonly id: string;
  readonly isNamed: boolean;
  /** The best match first. */
  readonly lookups: readonly { readonly list: ListMethod; readonly is: (row: Row) => boolean }[];
  readonly unknown: Error;
}

/** @throws McpException (-32602) for params that name nothing */
export function targetOf(method: NamingMethod, params: Params): Target {
  if (METHODS.get(method)?.names === 'ref') asObject(params['ref'], 'ref');
  const { kind, field, id: given } = itemOf(method, params);
  const id = requireString({ [field]: given }, field);
  return { id, isNamed: field === 'name', lookups: lookupsOf(kind, id), unknown: unknownItem(kind, id) };
}

/** A resource may be listed by its URI, by another spelling of it, or by a template. */
function lookupsOf(kind: ItemKind, id: string): Target['lookups'] {
  const { resource, 'resource template': template } = LIST_OF;
  if (kind === 'resource') {
    const canonical = canonicalUri(id);
    return [
      { list: resource, is: row => row['uri'] === id },
      { list: resource, is: row => canonicalUri(String(row['uri'])) === canonical },
      { list: template, is: row => matches(row['uriTemplate'], id) },
    ];
  }
  if (kind !== 'resource template') return [{ list: LIST_OF[kind], is: row => row['name'] === id }];
  const is = (row: Row) => row['uriTemplate'] === id || row['uri'] === id;
  return [
    { list: template, is },
    { list: resource, is },
  ];
}

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
