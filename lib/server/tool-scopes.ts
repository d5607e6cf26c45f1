import type { AuthInfo, Result } from '@modelcontextprotocol/server';
import { WITHOUT_SCOPES, type Authorizer, type HandlerAccess } from '../protocol/access.js';
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

/** Removes the tools that the caller does not see from a page. */
export function toolsShown(
  page: Result,
  { authInfo, era }: McpCall,
  scopesOf: ScopesOf,
  authorizer: Authorizer,
): Result {
  const all = rowsOf('tools/list', page);
  const shownTo = (caller: AuthInfo | undefined) =>
    all.filter(({ name }) => authorizer.shows(toolAccessOf(scopesOf, 'tools/call', { name }), caller));
  // A tool without rules is shown to everybody whom the server admits.
  if (shownTo(WITHOUT_SCOPES).length === all.length) return page;
  return { ...page, tools: shownTo(authInfo), ...(era === 'modern' && { cacheScope: 'private' }) };
}
