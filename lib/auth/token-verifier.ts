import type { AuthInfo } from '@modelcontextprotocol/server';

/** @internal Shared by all copies of the library in one process. */
export const LOAD = Symbol.for('nestjs-mcp:load');

/** The request in which a token came. */
export interface VerifierContext {
  /** The audience that the token must have: the `resource` of `McpAuthModule`. Default: the URL of the request, without its query. */
  readonly resource: string;
  /** All audiences that the request accepts. Without the option, tokens for one path of an endpoint fit its other paths. */
  readonly resources: readonly string[];
  /** Express's or Fastify's request and response. */
  readonly request: object;
  readonly response: object;
}

/** Verifies access tokens. Verifiers of the MCP SDK fit, too. */
export interface TokenVerifier {
  /**
   * Whether a result may be cached for requests with the same token, path and `cacheKey`. Set it to false for a verifier that
   * decides by other parts of the request. Default: true.
   */
  readonly cacheable?: boolean;
  /** How long the server accepts a token after its expiry, in seconds, because clocks differ. Default: 0. */
  readonly clockToleranceSeconds?: number;
  /** @internal Loads the packages of the verifier. Called while the application starts. */
  [LOAD]?(): Promise<unknown>;
  /**
   * Verifies signature, issuer, audience and lifetime of a token. The result needs `expiresAt`, in seconds since 1970, and the
   * subject in `extra.sub`. Its `resource`, if it has one, must be one of `context.resources`. The result is cached until it
   * expires, at most 60 seconds.
   * @throws InvalidTokenError, or an `HttpException` with status 401 or 403, for an invalid token: the client is asked to log
   *   in. Any other error, and no result within `calls.timeoutMs`, means that the token cannot be verified now (HTTP 503)
   */
  verifyAccessToken(token: string, context: VerifierContext): Promise<AuthInfo>;
  /**
   * The parts of a request, beside token and path, by which the verifier decides, as one text, such as the value of a header.
   * @param request Express's or Fastify's
   */
  cacheKey?(request: object): string;
}

/**
 * The error for an invalid token. Clients do not see the message.
 * @example
 * ```ts
 * const verifier: TokenVerifier = {
 *   async verifyAccessToken(token) {
 *     const session = await sessions.find(token);
 *     if (!session) throw new InvalidTokenError('The session has ended');
 *     return { token, clientId: session.clientId, scopes: session.scopes, expiresAt: session.expiresAt };
 *   },
 * };
 * ```
 */
export class InvalidTokenError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidTokenError';
  }
}

/** Whether an error means an invalid token. Its shape decides, because libraries can be loaded twice. */
export function isInvalidToken(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  const { getStatus } = error as { getStatus?: () => number };
  if (typeof getStatus === 'function') return [401, 403].includes(getStatus.call(error));
  // The errors of this package, of the MCP SDK, of jose and of jsonwebtoken.
  return INVALID_CODE.test(String(code)) || INVALID.has(error.name);
}

/** Other codes of jose mean that the keys of the issuer are missing. */
const INVALID_CODE = /^(invalid_token$|ERR_(JWT|JWS_|JWKS_(NO|MULTIPLE)|JOSE_(ALG|NOT)))/;

const INVALID = new Set(['InvalidTokenError', 'JsonWebTokenError', 'TokenExpiredError', 'NotBeforeError']);
