import { createHash, randomUUID } from 'node:crypto';
import type { AuthInfo } from '@modelcontextprotocol/server';

/**
 * Identifies the caller in one string: by the OAuth client, its subject, and the `user` on the platform's request.
 * Without `extra.sub`, all fields of `extra` identify the caller, except fields of the token such as `exp` and `scope`.
 */
export function callerOf(authInfo: AuthInfo | undefined, platformRequest: object | undefined): string {
  const { user } = (platformRequest ?? {}) as { user?: unknown };
  if (authInfo === undefined && isMissing(user)) return NOBODY;
  return JSON.stringify([authInfo?.clientId, subjectOf(authInfo), ...userOf(user)].map(identity));
}

const NOBODY = JSON.stringify([null, null, null]);

/** Fields that change when a caller logs in again or asks for more scopes: JWT claims (RFC 7519, 4.1) and common names. */
const REFRESHED = new Set(
  'exp iat nbf jti auth_time token access_token refresh_token id_token expires_at expires_in scope scopes scp sid uti'
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

/** `accessToken` and `access_token` count as the same name. */
function squeezed(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

function userOf(user: unknown): unknown[] {
  if (typeof user !== 'object' || user === null) return [user];
  const { id, sub, username } = user as Record<string, unknown>;
  const known = [id, sub, username];
  // Without these fields, all data of the user identifies it, so that it is not taken for an anonymous caller.
  return ['user', ...known, ...(known.every(isMissing) ? [digestOf(user)] : [])];
}

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Converts a value for comparison. Ids may be objects, such as MongoDB's, with their own text or fields. */
function identity(value: unknown): unknown {
  if (isMissing(value)) return null;
  const text = (value as { toString(): string }).toString();
  return typeof value === 'object' ? [text, JSON.stringify(value)] : [typeof value, text];
}

/**
 * A digest of an object's data. If the data cannot be read, the digest is unique, so that the object equals no other.
 */
function digestOf(user: object): string {
  try {
    return createHash('sha256')
      .update(JSON.stringify(plain(user)))
      .digest('base64url');
  } catch {
    return randomUUID();
  }
}

/** Copies data with sorted fields. @throws Error for an object that hides its data */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return ['bigint', value.toString()];
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return plain(toJSON.call(value));
  const members = Object.entries(value).filter(([, member]) => typeof member !== 'function');
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(value) as null);
  if (members.length === 0 && !isPlain) throw new Error('The object has no readable data');
  return members
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => [key, plain(member)]);
}
