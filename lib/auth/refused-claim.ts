import { LRUCache } from 'lru-cache';
import { clipped } from '../util/clipped.js';
import { InvalidTokenError } from './token-verifier.js';

/** The most characters of a refused value in the log. */
const MAX_LENGTH = 200;

/** How long a refusal is not logged again, in milliseconds. */
const QUIET_MS = 60_000;

/** The most refusals that are logged in that time, for each claim: callers can make up issuers. */
const MAX_LINES = 10;

const REMEDIES = {
  issuer: 'if you trust this issuer, name it in "issuer" of the verifier',
  audience:
    'if it stands for this server, name it in "resource" of McpAuthModule or in "audience" of the verifier',
  resource: 'if it stands for this server, name it in "resource" of McpAuthModule',
};

/** A token is of another issuer or for another server. Often, an option has a wrong value, so operators need to know. */
export class RefusedClaimError extends InvalidTokenError {
  constructor(
    readonly claim: keyof typeof REMEDIES,
    received: unknown,
    expected: readonly string[],
  ) {
    const shown = received === undefined ? 'missing' : clipped(JSON.stringify(received), MAX_LENGTH);
    const wanted = expected.map(one => JSON.stringify(one)).join(' or ');
    super(`its ${claim} is ${shown}, but must be ${wanted}; ${REMEDIES[claim]}`);
  }
}

export class RefusalLog {
  private readonly logged = { issuer: recent(), audience: recent(), resource: recent() };

  /** Whether to log a refusal: each once a minute, and no flood. */
  admits({ claim, message }: RefusedClaimError): boolean {
    const logged = this.logged[claim];
    logged.purgeStale();
    if (logged.has(message) || logged.size === MAX_LINES) return false;
    logged.set(message, true);
    return true;
  }
}

const recent = () => new LRUCache<string, true>({ max: MAX_LINES, ttl: QUIET_MS });
