import type { AuthInfo } from '@modelcontextprotocol/server';

/**
 * Who calls, in one string: the OAuth client, its subject, and the user that the application's own authentication has
 * put on the platform's request. Two callers are the same where none of this differs.
 */
export function callerOf(authInfo: AuthInfo | undefined, platformRequest: object | undefined): string {
  const { user } = (platformRequest ?? {}) as { user?: unknown };
  return JSON.stringify([authInfo?.clientId, authInfo?.extra?.['sub'], ...userOf(user)].map(identity));
}

function userOf(user: unknown): unknown[] {
  if (typeof user !== 'object' || user === null) return [user];
  const { id, sub, username } = user as Record<string, unknown>;
  // A user of whom nothing is known is not nobody.
  return ['user', id, sub, username];
}

/** A value in a form that can be compared. Ids may be objects, as MongoDB's are, with text or members of their own. */
function identity(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  const text = (value as { toString(): string }).toString();
  return typeof value === 'object' ? [text, JSON.stringify(value)] : [typeof value, text];
}
