import type { Result } from '@modelcontextprotocol/server';
import type { Authorizer, HandlerAccess } from '../protocol/access.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { rowsOf } from '../protocol/methods.js';

/** The scopes that a caller needs for a tool, by its name. */
export type ScopesOf = (name: string) => readonly string[];

/** The access of the tool that a request names, if it needs scopes. The handler of the tool is in another process. */
export function toolAccessOf(
  scopesOf: ScopesOf | undefined,
  method: string,
  { name }: Params,
): HandlerAccess | undefined {
  if (!scopesOf || method !== 'tools/call') return undefined;
  const scopes = scopesOf(String(name));
  return scopes.length > 0 ? { scopes, anonymous: false } : undefined;
}

/** Removes the tools that the scopes of the caller do not allow from a page. */
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
