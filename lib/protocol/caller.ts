import { createHash, randomUUID } from 'node:crypto';
import type { AuthInfo } from '@modelcontextprotocol/server';

/**
 * Who calls, in one string: the OAuth client, its subject, and the user that the application's own authentication has
 * put on the platform's request. Two callers are the same where none of this differs. A token that does not say whose it
 * is in `extra.sub` is told from others by all of `extra`, but for what changes each time that it is refreshed.
 */
export function callerOf(authInfo: AuthInfo | undefined, platformRequest: object | undefined): string {
  const { user } = (platformRequest ?? {}) as { user?: unknown };
  if (authInfo === undefined && isMissing(user)) return NOBODY;
  return JSON.stringify([authInfo?.clientId, subjectOf(authInfo), ...userOf(user)].map(identity));
}

const NOBODY = JSON.stringify([null, null, null]);

/** What a token is and how long it is good for, by the names of JWT claims (RFC 7519, 4.1) and those that are common. */
const REFRESHED = new Set(
  'exp iat nbf jti auth_time token access_token refresh_token id_token expires_at expires_in'
    .split(' ')
    .map(squeezed),
);

function subjectOf(authInfo: AuthInfo | undefined): unknown {
  const extra = authInfo?.extra ?? {};
  const { iss, sub } = extra;
  // A subject is only unique within its issuer (RFC 7519, 4.1.2).
  if (!isMissing(sub)) return isMissing(iss) ? sub : [iss, sub];
  const known = Object.entries(extra).filter(
    ([name, value]) => !isMissing(value) && !REFRESHED.has(squeezed(name)),
  );
  return known.length > 0 ? ['extra', digestOf(Object.fromEntries(known))] : undefined;
}

/** `accessToken` and `access_token` are the same. */
function squeezed(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

function userOf(user: unknown): unknown[] {
  if (typeof user !== 'object' || user === null) return [user];
  const { id, sub, username } = user as Record<string, unknown>;
  const known = [id, sub, username];
  // A user without any of these is told from others by all that is known of it, and is not nobody.
  return ['user', ...known, ...(known.every(isMissing) ? [digestOf(user)] : [])];
}

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** A value in a form that can be compared. Ids may be objects, as MongoDB's are, with text or members of their own. */
function identity(value: unknown): unknown {
  if (isMissing(value)) return null;
  const text = (value as { toString(): string }).toString();
  return typeof value === 'object' ? [text, JSON.stringify(value)] : [typeof value, text];
}

/** What stands for an object's data. One whose data cannot be seen is like no other, not even itself. */
function digestOf(user: object): string {
  try {
    return createHash('sha256')
      .update(JSON.stringify(plain(user)))
      .digest('base64url');
  } catch {
    return randomUUID();
  }
}

/** Data with its members in order. @throws Error for what keeps its data to itself */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return ['bigint', value.toString()];
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return plain(toJSON.call(value));
  const members = Object.entries(value).filter(([, member]) => typeof member !== 'function');
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value) as null);
  if (members.length === 0 && !isPlain) throw new Error('Nothing is known of it');
  return members
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => [key, plain(member)]);
}
