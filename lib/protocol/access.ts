import type { AuthInfo } from '@modelcontextprotocol/server';
import type { AuthChallenge } from '../exceptions/auth-challenge.js';

/** Who may use a handler, according to its decorators. */
export interface HandlerAccess {
  /** The caller's token needs all of these scopes. */
  readonly scopes: readonly string[];
  /** Whether a call needs no token. Undefined: the server's default applies. */
  readonly anonymous: boolean | undefined;
}

/** A caller whose token has no scopes. Of all callers with a token, it sees the fewest handlers. */
export const WITHOUT_SCOPES: AuthInfo = { token: '', clientId: '', scopes: [] };

/** An HTTP request whose token decides about access. */
export interface Bearer {
  /** The platform's request. */
  readonly request: object;
  /** The platform's response. */
  readonly response: object;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values of the headers in turns, as received. */
  readonly rawHeaders: readonly string[];
  /** The caller in the limits, as far as it is known without the token. */
  readonly caller: string;
}

/** Decides by the caller's token which parts of a server the caller may use. */
export interface Authorizer {
  /** Which handlers lists show: what the caller may use, in addition what it can get by a login, or everything. */
  readonly lists: 'reachable' | 'allowed' | 'all';
  /** Issuers from which callers may get tokens. */
  readonly authorizationServers: readonly string[];
  /** Whether handlers without an access decorator need no token. */
  readonly anonymous: boolean;
  /**
   * The caller of a request; undefined without a token.
   * @throws AuthChallenge for a token that is not good here, or cannot be verified now; LimitReached if too many are verified
   */
  authenticate(bearer: Bearer): AuthInfo | undefined | Promise<AuthInfo | undefined>;
  /** How often the token of a stream is verified again, in milliseconds. */
  readonly recheckMs: number;
  /**
   * Verifies the token of a stream again, and counts it in no limit. Undefined for a token that is refused.
   * @throws Error if it cannot be verified now
   */
  verifyAgain(bearer: Bearer): Promise<AuthInfo | undefined>;
  /** The refusal of a token that has expired. */
  expired(bearer: Bearer): AuthChallenge;
  /** Whether a caller may use a handler. */
  allows(access: HandlerAccess | undefined, caller: AuthInfo | undefined): boolean;
  /** Whether lists show a handler to a caller. More scopes never hide a handler. */
  shows(access: HandlerAccess | undefined, caller: AuthInfo | undefined): boolean;
  /** Creates the refusal for a caller that may not use a handler. */
  refusal(scopes: readonly string[], caller: AuthInfo | undefined, bearer: Bearer): AuthChallenge;
}
