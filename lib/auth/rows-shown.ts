import type { AuthInfo, Result } from '@modelcontextprotocol/server';
import type { McpCall } from '../protocol/mcp-call.js';
import { listOf, rowsOf, type ListMethod } from '../protocol/methods.js';
import { WITHOUT_SCOPES, type Permissions, type Requirements } from '../protocol/permissions.js';

/** Removes the items that the caller does not see from a page of a list that shows all items to everybody. */
export function rowsShown(
  page: Result,
  { authInfo, era, method }: McpCall,
  { requirementOf }: Requirements,
  permissions: Permissions,
): Result {
  const { kind, lists, key } = listOf(method as ListMethod);
  const all = rowsOf(method as ListMethod, page);
  const shownTo = (caller: AuthInfo | undefined) =>
    all.filter(row => permissions.shows(requirementOf!(kind, String(row[key])), caller));
  // An item without a requirement is shown to everybody whom the server admits.
  if (shownTo(WITHOUT_SCOPES).length === all.length) return page;
  return { ...page, [lists]: shownTo(authInfo), ...(era === 'modern' && { cacheScope: 'private' }) };
}
