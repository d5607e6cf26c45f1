import type { AuthInfo } from '@modelcontextprotocol/server';

/** What a verifier knows beside the token. */
export interface VerifierContext {
  /** The `resource` of `McpAuthModule`: the audience that the token must have. Undefined if the option is not set. */
  readonly resource?: string;
  /** Express's or Fastify's request and response. */
  readonly request: object;
  readonly response: object;
}

/** Verifies access tokens. Verifiers of the MCP SDK fit, too. */
export interface TokenVerifier {
  /** Whether the audience to check is the `resource` of `McpAuthModule`, which must be set then. Default: false. */
  readonly needsResource?: boolean;
  /**
   * Verifies signature, issuer, audience and lifetime of a token. The result needs `expiresAt`, in seconds since 1970, and the
   * subject in `extra.sub`; if it has `resource`, it must be that of the server. It is cached until then, at most 60 seconds.
   * @throws InvalidTokenError, or an `HttpException` with status 401 or 403, for a token that is not good: the client is asked
   *   to log in. Any other error means that the token cannot be verified now (HTTP 503)
   */
  verifyAccessToken(token: string, context: VerifierContext): Promise<AuthInfo>;
}

/** A token that is not good here. Clients do not see the message. */
export class InvalidTokenError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidTokenError';
  }
}

/** Whether an error says that a token is not good, by its shape: libraries are loaded twice, and tokens come from many. */
export function isInvalidToken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  const { getStatus } = error as { getStatus?: () => number };
  if (typeof getStatus === 'function') return [401, 403].includes(getStatus.call(error));
  // Those of this package, of the MCP SDK, and of jsonwebtoken.
  return code === 'invalid_token' || INVALID.has(error.name);
}

const INVALID = new Set(['InvalidTokenError', 'JsonWebTokenError', 'TokenExpiredError', 'NotBeforeError']);
