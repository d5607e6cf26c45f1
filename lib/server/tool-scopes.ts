import type { Result } from '@modelcontextprotocol/server';
import type { Authorizer, HandlerAccess } from '../protocol/access.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { rowsOf } from '../protocol/methods.js';

/** The scopes that a caller needs for a tool, by its name. */
export type ScopesOf = (name: string) => readonly string[];

/** The tool that a request names, if it needs scopes. Their handlers are not in this process. */
export function toolAccessOf(
  scopesOf: ScopesOf | undefined,
  method: string,
  { name }: Params,
): HandlerAccess | undefined {
  if (!scopesOf || method !== 'tools/call') return undefined;
  const scopes = scopesOf(String(name));
  return scopes.length > 0 ? { scopes, anonymous: false } : undefined;
}

/** A page of tools without those that the scopes of the caller do not allow. */
export function allowedTools(
  page: Result,
  { authInfo, era }: McpCall,
  scopesOf: ScopesOf,
  authorizer: Authorizer,
): Result {
  const tools = rowsOf('tools/list', page).filter(({ name }) =>
    authorizer.allows(toolAccessOf(scopesOf, 'tools/call', { name }), authInfo),
  );
  return { ...page, tools, ...(era === 'modern' && { cacheScope: 'private' }) };
}
