import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { HTTP_URL, objectOf, TEXT, TEXTS, TIME } from '../options/option-schema.js';
import { authInfoOf } from './claims.js';
import { RefusedClaimError } from './refused-claim.js';
import { InvalidTokenError, type TokenVerifier } from './token-verifier.js';

/** Options of `introspectionVerifier`. */
export interface IntrospectionVerifierOptions {
  /** The introspection endpoint of the authorization server. */
  url: string | URL;
  /** Client id of this server at the authorization server. */
  clientId: string;
  /** Client secret, sent as HTTP Basic authentication. */
  clientSecret: string;
  /** The `aud` of tokens for this server, or several. Default: the `resource` of `McpAuthModule`. */
  audience?: string | string[];
  /** The `iss` that answers must have. Default: any issuer. */
  issuer?: string;
  /** How long an answer may take, in milliseconds. Default: 5,000. */
  timeoutMs?: number;
}

type IntrospectionSettings = IntrospectionVerifierOptions &
  Required<Pick<IntrospectionVerifierOptions, 'timeoutMs'>>;

export const INTROSPECTION = objectOf<IntrospectionVerifierOptions, IntrospectionSettings>(
  {
    url: HTTP_URL,
    clientId: TEXT,
    clientSecret: TEXT,
    audience: TEXTS,
    issuer: TEXT,
    timeoutMs: { ...TIME, default: 5000 },
  },
  { title: 'options', required: ['url', 'clientId', 'clientSecret'] },
);

/** How long a token without an expiry counts as valid, in seconds. */
const NO_EXPIRY_S = 60;

/** How far the clocks of the two servers may differ, in seconds. */
const CLOCK_TOLERANCE_S = 5;

/** How authorization servers call the type of an access token. RFC 7662 has the type of RFC 6749, which is `Bearer`. */
const ACCESS_TOKEN = /^(?:bearer|access_token)$/i;

/**
 * Asks the authorization server about tokens that are not JSON Web Tokens (RFC 7662). An answer must have `aud`. Without `exp`,
 * a token counts as valid for 60 seconds. A token that is valid only later (`nbf`), or whose `token_type` is not that of an
 * access token, is refused.
 * @throws McpBootstrapError for an option that is missing, unknown or out of range
 * @example
 * ```ts
 * const verifier = introspectionVerifier({
 *   url: 'https://login.example.com/introspect',
 *   clientId: 'orders',
 *   clientSecret: process.env.CLIENT_SECRET!,
 * });
 * ```
 */
export function introspectionVerifier(options: IntrospectionVerifierOptions): TokenVerifier {
  const settings = resolve(
    INTROSPECTION,
    options,
    problem => new McpBootstrapError('introspectionVerifier', problem),
  );
  const { url, clientId, clientSecret, audience, issuer, timeoutMs } = settings;
  const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':');
  const headers = {
    accept: 'application/json',
    authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
  return {
    async verifyAccessToken(token, context) {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
        // Credentials must not be sent elsewhere.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!response.ok) throw new Error(`The introspection endpoint answered with HTTP ${response.status}`);
      const claims = (await response.json()) as Record<string, unknown>;
      if (claims['active'] !== true) throw new InvalidTokenError('The token is not active');
      if (issuer !== undefined && claims['iss'] !== issuer)
        throw new RefusedClaimError('issuer', claims['iss'], [issuer]);
      const { token_type, nbf } = claims;
      const type = token_type ?? 'Bearer';
      if (typeof type !== 'string' || !ACCESS_TOKEN.test(type))
        throw new InvalidTokenError('The token is no access token');
      // A comparison with something that is no number fails.
      if (!(Number(nbf ?? 0) <= Date.now() / 1000 + CLOCK_TOLERANCE_S))
        throw new InvalidTokenError('The token is not valid yet');
      const caller = authInfoOf(token, claims, context, audience);
      // An answer may lack `exp` (RFC 7662, 2.2): the issuer is asked again a minute later.
      const { exp = Math.floor(Date.now() / 1000) + NO_EXPIRY_S } = claims;
      return { ...caller, expiresAt: exp as number };
    },
  };
}
