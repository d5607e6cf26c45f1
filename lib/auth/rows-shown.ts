import type { AuthInfo, Result } from '@modelcontextprotocol/server';
import type { McpCall } from '../protocol/mcp-call.js';
import { listOf, rowsOf, type ListMethod } from '../protocol/methods.js';
import { WITHOUT_SCOPES, type Permissions, type Requirements } from '../protocol/permissions.js';

/**
 * Removes the items that the caller does not see from a page of a list that shows all items to everybody.
 * @param isAnonymous whether the server serves callers without a token
 */
export function rowsShown(
  page: Result,
  { authInfo, era, method }: McpCall,
  { requirementOf }: Requirements,
  permissions: Permissions,
  isAnonymous: boolean,
): Result {
  const { kind, lists, key } = listOf(method as ListMethod);
  const all = rowsOf(method as ListMethod, page);
  const shownTo = (caller: AuthInfo | undefined) =>
    all.filter(row => permissions.shows(requirementOf!(kind, String(row[key])), caller));
  const isForAll = (caller: AuthInfo | undefined) => shownTo(caller).length === all.length;
  if (isForAll(WITHOUT_SCOPES) && (!isAnonymous || isForAll(undefined))) return page;
  return { ...page, [lists]: shownTo(authInfo), ...(era === 'modern' && { cacheScope: 'private' }) };
}
