import type * as Jose from 'jose';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { missingPackage } from '../exceptions/missing-package.js';
import { resolve } from '../options/check-options.js';
import { HTTP_URL, listOf, objectOf, oneOf, TEXT, TEXTS, TIME } from '../options/option-schema.js';
import { messageOf } from '../util/message-of.js';
import { authInfoOf } from './claims.js';
import { RefusedClaimError } from './refused-claim.js';
import { InvalidTokenError, isInvalidToken, LOAD, type TokenVerifier } from './token-verifier.js';

/** Options of `jwtVerifier` for one issuer. */
export interface JwtVerifierOptions {
  /** The exact `iss` of its tokens. */
  issuer: string;
  /** URL of its public keys. */
  jwksUri: string | URL;
  /** The `aud` of tokens for this server, or several. Default: the `resource` of `McpAuthModule`. */
  audience?: string | string[];
  /** The `typ` that its access tokens must have, or several. Default: `JWT` or `at+jwt`, and tokens without it. */
  typ?: string | string[];
  /** Algorithms of signatures. Default: all algorithms with a public key. */
  algorithms?: JwtAlgorithm[];
  /** How far the clocks may differ, in seconds, at most 60. Default: 5. */
  clockToleranceSeconds?: number;
  /** How long a request for the keys may take, in milliseconds. Default: 5,000. */
  timeoutMs?: number;
}

/** Algorithms with a public key. An algorithm with a shared secret would accept the public key as the secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** An algorithm of a signature. */
export type JwtAlgorithm = (typeof ALGORITHMS)[number];

type JwtSettings = JwtVerifierOptions & Required<Omit<JwtVerifierOptions, 'audience' | 'typ'>>;

export const JWT = objectOf<JwtVerifierOptions, JwtSettings>(
  {
    issuer: TEXT,
    jwksUri: HTTP_URL,
    audience: TEXTS,
    typ: TEXTS,
    algorithms: { ...listOf(oneOf(...ALGORITHMS), undefined, 1), default: [...ALGORITHMS] },
    clockToleranceSeconds: { type: 'integer', minimum: 0, maximum: 60, default: 5 },
    timeoutMs: { ...TIME, default: 5000 },
  },
  { title: 'an issuer', required: ['issuer', 'jwksUri'] },
);

/** How long the known keys are used after a failed request for new keys, in milliseconds. */
const RETRY_MS = 10_000;

/** How long an issuer is not asked again for its first keys after a failure, in milliseconds. */
const FIRST_RETRY_MS = 1000;

/**
 * Verifies JSON Web Tokens by the public keys of their issuer, which are cached. Needs the package `jose`.
 * @param issuers one issuer, or several
 * @throws McpBootstrapError for an option that is missing, unknown or out of range; while the application starts, if
 *   `jose` is missing
 * @example
 * ```ts
 * const verifier = jwtVerifier({
 *   issuer: 'https://login.example.com/',
 *   jwksUri: 'https://login.example.com/.well-known/jwks.json',
 * });
 * ```
 */
export function jwtVerifier(issuers: JwtVerifierOptions | readonly JwtVerifierOptions[]): TokenVerifier {
  const all = [issuers]
    .flat()
    .map(one => resolve(JWT, one, problem => new McpBootstrapError('jwtVerifier', problem)));
  const known = new Map(all.map(settings => [settings.issuer, { settings, keys: keysOf(settings) }]));
  return {
    // `jwtVerify` applies the tolerance of each issuer.
    clockToleranceSeconds: Math.max(...all.map(({ clockToleranceSeconds }) => clockToleranceSeconds)),
    [LOAD]: jose,
    async verifyAccessToken(token, context) {
      const { decodeJwt, jwtVerify } = await jose();
      try {
        const { iss } = decodeJwt(token);
        const issuer = known.get(iss!);
        if (!issuer) throw new RefusedClaimError('issuer', iss, [...known.keys()]);
        const { audience, typ, algorithms, clockToleranceSeconds } = issuer.settings;
        const { payload, protectedHeader } = await jwtVerify(token, issuer.keys, {
          issuer: iss,
          algorithms,
          clockTolerance: clockToleranceSeconds,
          requiredClaims: ['exp'],
        });
        if (!isOfType(protectedHeader.typ, typ)) throw new InvalidTokenError('The token is no access token');
        return authInfoOf(token, payload, context, audience);
      } catch (error) {
        if (error instanceof InvalidTokenError || !isInvalidToken(error)) throw error;
        throw new InvalidTokenError(error.message, { cause: error });
      }
    },
  };
}

/** Tokens of other types, such as `logout+jwt`, have the same signature. */
function isOfType(type: unknown, accepted: string | readonly string[] | undefined): boolean {
  if (typeof type !== 'string') return type === undefined && accepted === undefined;
  return [accepted ?? ['JWT', 'at+jwt']].flat().some(one => mediaType(one) === mediaType(type));
}

/** Media types compare without case and without `application/` (RFC 7515, 4.1.9). */
const mediaType = (type: string): string => type.toLowerCase().replace(/^application\//, '');

/** The keys of an issuer. While its endpoint is down, the known keys are used. */
function keysOf({ jwksUri, timeoutMs }: JwtSettings): Jose.JWTVerifyGetKey {
  let remote: ReturnType<typeof Jose.createRemoteJWKSet> | undefined;
  let failed: { readonly at: number; readonly error: unknown } | undefined;
  return async (header, token) => {
    const { createLocalJWKSet, createRemoteJWKSet } = await jose();
    remote ??= createRemoteJWKSet(new URL(jwksUri), { timeoutDuration: timeoutMs });
    const cached = presentIn(remote.jwks());
    const waitMs = cached ? RETRY_MS : FIRST_RETRY_MS;
    if (!failed || performance.now() - failed.at >= waitMs) {
      try {
        return await remote(header, token);
      } catch (error) {
        if (isInvalidToken(error) && presentIn(remote.jwks())) throw error;
        failed = { at: performance.now(), error };
      }
    }
    if (!cached)
      throw new Error(`The issuer sent no keys: ${messageOf(failed.error)}`, { cause: failed.error });
    return createLocalJWKSet(cached)(header, token);
  };
}

/** An empty key set counts as a failure of the issuer. */
function presentIn(keys: Jose.JSONWebKeySet | undefined): Jose.JSONWebKeySet | undefined {
  return keys?.keys.length ? keys : undefined;
}

async function jose(): Promise<typeof Jose> {
  try {
    return await import('jose');
  } catch (error) {
    throw missingPackage('jwtVerifier', 'jose', error);
  }
}
