import type { ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { HttpExchange } from '../protocol/mcp-call.js';
import type { TokenAuthorizer } from './token-authorizer.js';

/**
 * Ends a stream when the token of its client expires or is refused: a client that only listens sends its token once. While the
 * token cannot be verified, the stream goes on.
 */
export function endWithToken(
  authorizer: TokenAuthorizer,
  bearer: HttpExchange,
  caller: AuthInfo,
  response: ServerResponse,
): void {
  let timer: NodeJS.Timeout | undefined;
  const watch = (known: AuthInfo) => {
    const leftMs = leftOf(known);
    if (leftMs <= 0) return void response.destroy();
    const waitMs = Math.min(leftMs, authorizer.recheckMs);
    timer = setTimeout(() => void check(known), waitMs).unref();
  };
  const check = async (known: AuthInfo) => {
    const verified = await authorizer.verifyAgain(bearer).catch(() => known);
    if (response.closed) return;
    if (verified) watch(verified);
    else response.destroy();
  };
  watch(caller);
  response.once('close', () => clearTimeout(timer));
}

/** How long a token is good for, in milliseconds. */
export const leftOf = ({ expiresAt = Infinity }: AuthInfo): number => expiresAt * 1000 - Date.now();
