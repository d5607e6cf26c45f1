import { UnauthorizedException, type CanActivate } from '@nestjs/common';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { lastValueFrom, isObservable } from 'rxjs';
import { httpExecutionContext } from '../execution/http-execution-context.js';
import type { TokenVerifier } from './token-verifier.js';

/**
 * Verifies tokens by a guard, such as `new (AuthGuard('jwt'))()` of `@nestjs/passport`. The guard must check the audience. It
 * runs for each request, because it may decide by other parts of the request than the token.
 * @param toAuthInfo makes the result from `request.user`, which the guard sets
 * @param caching `cacheable: true` if the guard decides by the token and the path alone, or a `cacheKey`. Default: no cache
 * @example
 * ```ts
 * const verifier = guardVerifier(new (AuthGuard('jwt'))(), (user: JwtUser, token) => ({
 *   token,
 *   clientId: user.clientId,
 *   scopes: user.scopes,
 *   expiresAt: user.exp,
 *   extra: { sub: user.id },
 * }));
 * ```
 */
export function guardVerifier(
  guard: CanActivate,
  toAuthInfo: (user: never, token: string) => AuthInfo | Promise<AuthInfo>,
  caching: Pick<TokenVerifier, 'cacheable' | 'cacheKey'> = {},
): TokenVerifier {
  return {
    ...caching,
    cacheable: caching.cacheable ?? caching.cacheKey !== undefined,
    async verifyAccessToken(token, { request, response }) {
      const earlier: unknown = Reflect.get(request, 'user');
      try {
        const result = await guard.canActivate(httpExecutionContext(request, response));
        if (!(isObservable(result) ? await lastValueFrom(result) : result)) throw new UnauthorizedException();
        return await toAuthInfo(Reflect.get(request, 'user') as never, token);
      } finally {
        // Requests whose caller comes from the cache run no guard.
        Reflect.set(request, 'user', earlier);
      }
    },
  };
}
