import type { AuthInfo } from '@modelcontextprotocol/server';
import { RefusedClaimError } from './refused-claim.js';
import { InvalidTokenError, type VerifierContext } from './token-verifier.js';

type Claims = Readonly<Record<string, unknown>>;

/** What Keycloak (`typ`), Cognito and Hydra (`token_use`) call tokens that are no access tokens. */
const OTHER_USES = new Set(['id', 'id_token', 'refresh', 'refresh_token']);

/** Claims of ID tokens (OpenID Connect Core, 2 and 3.3.2.11). */
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash'];

/**
 * Reads the caller from the claims of an access token or of an introspection (RFC 9068, RFC 7662).
 * @param audience of tokens for this server, or several. Default: the resources of the request
 * @throws InvalidTokenError for a token of another audience, and for a token that is no bearer access token
 */
export function authInfoOf(
  token: string,
  claims: Claims,
  { resources }: VerifierContext,
  audience?: string | readonly string[],
): AuthInfo {
  const { client_id: id, azp, appid, sub, exp } = claims;
  assertAccessToken(claims, audienceIn(claims, resources, audience));
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

/**
 * The audiences of a token that mean this server.
 * @throws RefusedClaimError if there are none
 */
function audienceIn(
  { aud }: Claims,
  resources: readonly string[],
  audience?: string | readonly string[],
): readonly string[] {
  const expected = audience === undefined ? resources : [audience].flat();
  const spellings = audience === undefined ? resources.flatMap(audiencesOf) : expected;
  const accepted = new Set(spellings.map(comparable));
  const meant = [aud].flat().filter(one => typeof one === 'string' && accepted.has(comparable(one)));
  if (meant.length === 0) throw new RefusedClaimError('audience', aud, expected);
  return meant as string[];
}

/** @throws InvalidTokenError for a token that is no access token, or that needs more than the token itself */
function assertAccessToken(claims: Claims, audience: readonly string[]): void {
  const { cnf, typ, token_use: use } = claims;
  // Nobody has checked that the caller holds the key (RFC 7800).
  if (cnf !== undefined && cnf !== null) throw new InvalidTokenError('The token is bound to a key');
  const isOther = [typ, use].some(name => OTHER_USES.has(String(name).toLowerCase()));
  // The audience of an ID token is the client. Access tokens for a resource may also have a nonce.
  const isForClient = !audience.some(isUri) && OF_ID_TOKENS.some(claim => claim in claims);
  if (isOther || isForClient) throw new InvalidTokenError('The token is no access token');
}

/** `scope` is a text; `scp` of Entra, a text, and of Okta, a list. */
function scopesOf({ scope, scp }: Claims): string[] {
  const texts = [scope, scp].flat().filter(text => typeof text === 'string');
  return [...new Set(texts.flatMap(text => text.split(' ')))].filter(name => name !== '');
}

/** Spellings of a resource as an audience: URL libraries add a slash to a host, and people add one to paths. */
function audiencesOf(resource: string): string[] {
  const bare = resource.replace(/\/$/, '');
  return [bare, `${bare}/`];
}

/** Scheme and host of a URI compare without case (RFC 3986, 6.2.2.1). */
const comparable = (audience: string): string =>
  audience.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, start => start.toLowerCase());

const isUri = (audience: string): boolean => /^(?:[a-z][a-z\d+.-]*:\/\/|urn:)/i.test(audience);
