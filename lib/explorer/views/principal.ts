import { isCaller } from '../../protocol/caller-limit.js';
import { clipped } from '../../util/clipped.js';
import { jsonIn } from '../../util/json-in.js';

const MAX_NAME = 200;

export const ANONYMOUS = 'anonymous';

/** A value in the key of a caller: its type and text, or the text and the JSON of an object. */
type Identity = readonly [string, string] | null;

const PRIMITIVES: ReadonlySet<string> = new Set(['string', 'number', 'bigint', 'boolean']);

/** The subject, the user or the client in a key of `callerOf`, or the address in another key. */
export function principalIn(key: string): string {
  if (!isCaller(key)) return key;
  const parts = JSON.parse(key) as (Identity | string)[];
  const [first] = parts;
  // The owner of a session with parameters of the path; the caller over stdio.
  if (typeof first === 'string') return principalIn(first);
  const [client, subject, ...user] = parts as Identity[];
  // The first of several values of a user names their kind.
  const known = [subject, ...(user.length > 1 ? user.slice(1) : user), client].filter(one => one !== null);
  const named = known.find(one => !isDigest(one)) ?? known[0];
  return named ? clipped(nameIn(named), MAX_NAME) : ANONYMOUS;
}

/** A token without a subject has a digest of its claims in the key, which says less than its client. */
function isDigest([, text]: readonly [string, string]): boolean {
  const value = jsonIn(text);
  return Array.isArray(value) && value[0] === 'extra';
}

function nameIn([type, text]: readonly [string, string]): string {
  if (PRIMITIVES.has(type)) return text;
  const value = jsonIn(text);
  // The subject after its issuer.
  return Array.isArray(value) ? String(value.at(-1)) : type;
}
