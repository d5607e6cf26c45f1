import { isRepeated } from '../headers/header-check.js';
import type { HttpExchange } from '../protocol/mcp-call.js';

/** The most characters of an `Authorization` header. Node's own limit is for all headers, and can be raised. */
const MAX_LENGTH = 16_384;

/** The credentials of RFC 6750, 2.1. */
const BEARER = /^Bearer +([\w\-.~+/]+=*) *$/i;

/** The bearer token of a request, from its `Authorization` header. A token anywhere else does not count. */
export type BearerToken = { readonly token: string } | 'none' | 'malformed' | 'repeated';

export function bearerToken({ headers, rawHeaders }: HttpExchange): BearerToken {
  const { authorization } = headers as { authorization?: string };
  if (authorization === undefined) return 'none';
  // Node keeps the first header; a proxy may have checked the other.
  if (isRepeated({ rawHeaders }, 'authorization')) return 'repeated';
  // Guards of the application may read other schemes.
  if (!/^Bearer(?: |$)/i.test(authorization)) return 'none';
  const token = authorization.length > MAX_LENGTH ? undefined : BEARER.exec(authorization)?.[1];
  return token === undefined ? 'malformed' : { token };
}
