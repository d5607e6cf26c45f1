import { ANONYMOUS_METADATA, SCOPES_METADATA } from '../decorators/metadata.js';
import { declaredMethodOf, type HandlerTarget } from '../execution/handler-target.js';
import type { Requirement } from '../protocol/permissions.js';

/**
 * Reads what a caller needs for a handler. A decorator of the method overrides the class, except that scopes of both are required.
 * @throws Error for a method or a class that has both `@AllowAnonymous` and `@RequireScopes`
 */
export function requirementOf(target: HandlerTarget): Requirement | undefined {
  const own = declaredOn(declaredMethodOf(target));
  const shared = declaredOn(target.handlerClass);
  if (own.anonymous) return { scopes: [], anonymous: true };
  if (own.scopes)
    return { scopes: [...new Set([...(shared.scopes ?? []), ...own.scopes])], anonymous: false };
  if (shared.anonymous) return { scopes: [], anonymous: true };
  return shared.scopes && { scopes: shared.scopes, anonymous: false };
}

function declaredOn(owner: object): { scopes?: readonly string[]; anonymous: boolean } {
  const scopes = Reflect.getMetadata(SCOPES_METADATA, owner) as readonly string[] | undefined;
  const anonymous = Reflect.getMetadata(ANONYMOUS_METADATA, owner) === true;
  if (scopes && anonymous) {
    throw new Error(
      'it has @AllowAnonymous() and @RequireScopes(), which exclude each other; remove one of them',
    );
  }
  return { scopes, anonymous };
}
