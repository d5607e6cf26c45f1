import type { AuthInfo } from '@modelcontextprotocol/server';
import { InvalidTokenError } from './token-verifier.js';

type Claims = Readonly<Record<string, unknown>>;

/** What Keycloak (`typ`), Cognito and Hydra (`token_use`) call tokens that are no access tokens. */
const OTHER_USES = new Set(['id', 'id_token', 'refresh', 'refresh_token']);

/** Claims of ID tokens (OpenID Connect Core, 2 and 3.3.2.11). */
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash'];

/**
 * Reads the caller from the claims of an access token or of an introspection (RFC 9068, RFC 7662).
 * @param audiences that the token may have
 * @throws InvalidTokenError for a token of another audience, and for a token that is no bearer access token
 */
export function authInfoOf(token: string, claims: Claims, audiences: readonly string[]): AuthInfo {
  const { client_id: id, azp, appid, sub, exp, cnf, typ, token_use: use } = claims;
  const accepted = new Set(audiences.map(comparable));
  const meant = [claims['aud']]
    .flat()
    .filter(one => typeof one === 'string' && accepted.has(comparable(one)));
  if (meant.length === 0) throw new InvalidTokenError('The token is for another audience');
  // Nobody has checked that the caller holds the key (RFC 7800).
  if (cnf !== undefined && cnf !== null) throw new InvalidTokenError('The token is bound to a key');
  const isOther = [typ, use].some(name => OTHER_USES.has(String(name).toLowerCase()));
  // The audience of an ID token is the client. Access tokens for a resource may also have a nonce.
  const isForClient = meant.every(one => !isUri(one as string));
  if (isOther || (isForClient && OF_ID_TOKENS.some(claim => claim in claims)))
    throw new InvalidTokenError('The token is no access token');
  const clientId = [id, azp, appid, sub].find(claim => typeof claim === 'string');
  return {
    token,
    clientId: clientId ?? '',
    scopes: scopesOf(claims),
    expiresAt: exp as number,
    // A token that no user gave is the client's own (RFC 9068, 2.2).
    extra: { ...claims, sub: sub ?? clientId },
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

/** Scheme and host of a URI compare without case (RFC 3986, 6.2.2.1). */
const comparable = (audience: string): string =>
  audience.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, start => start.toLowerCase());

const isUri = (audience: string): boolean => /^(?:[a-z][a-z\d+.-]*:\/\/|urn:)/i.test(audience);
