import type { AuthInfo } from '@modelcontextprotocol/server';

type Claims = Readonly<Record<string, unknown>>;

/** Reads the caller from the claims of a token or of an introspection (RFC 9068, RFC 7662). */
export function authInfoOf(token: string, claims: Claims): AuthInfo {
  const { client_id: id, azp, appid, sub, exp } = claims;
  const clientId = [id, azp, appid, sub].find(claim => typeof claim === 'string');
  return {
    token,
    clientId: clientId ?? '',
    scopes: scopesOf(claims),
    expiresAt: exp as number,
    extra: { ...claims },
  };
}

/** `scope` is a text; `scp` of Entra, a text, and of Okta, a list. */
function scopesOf({ scope, scp }: Claims): string[] {
  const texts = [scope, scp].flat().filter(text => typeof text === 'string');
  return [...new Set(texts.flatMap(text => text.split(' ')))].filter(name => name !== '');
}

/** Spellings of a resource as an audience: URL libraries add a slash to a host, and people add one to paths. */
export function audiencesOf(resource: string): string[] {
  const bare = resource.replace(/\/$/, '');
  return [bare, `${bare}/`];
}
