import { AuthChallenge } from '../exceptions/auth-challenge.js';

/** The parameters of a challenge (RFC 6750, 3; RFC 9728, 5.1). */
export interface ChallengeParams {
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope';
  readonly scope?: readonly string[];
  readonly metadataUrl: string;
}

const MESSAGES = {
  400: 'Bad Request: there must be one Authorization header',
  401: 'Unauthorized: a valid access token is needed',
  403: 'Forbidden: the access token lacks a scope',
} as const;

/** Tells the client how to get a valid token, but not why this token is refused. */
export function challenge(
  status: keyof typeof MESSAGES,
  { error, scope = [], metadataUrl }: ChallengeParams,
): AuthChallenge {
  const params = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(scope.length === 0 ? [] : [`scope="${scope.join(' ')}"`]),
    `resource_metadata="${metadataUrl}"`,
  ];
  return new AuthChallenge(status, MESSAGES[status], { 'www-authenticate': `Bearer ${params.join(', ')}` });
}

/** @param retryAfter delay before the client may try again, in seconds */
export const tooManyRefused = (retryAfter: number): AuthChallenge =>
  new AuthChallenge(429, 'Too many access tokens of this address were refused; try again later', {
    'retry-after': String(retryAfter),
  });

/** With HTTP 401, clients would log in again and again. */
export const unavailable = (): AuthChallenge =>
  new AuthChallenge(503, 'The access token cannot be verified now; try again later', { 'retry-after': '5' });
