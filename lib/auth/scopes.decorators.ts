import { SetMetadata } from '@nestjs/common';
import { ANONYMOUS_METADATA, SCOPES_METADATA } from '../decorators/metadata.js';
import { extendMetadata } from '../decorators/extend-metadata.js';
import { isScope } from './scope.js';

/**
 * Lets callers use a handler, or all handlers of a class, if their token has all of these scopes. Without scopes, any valid
 * token is enough. A caller that lacks a scope gets HTTP 403 with all scopes of the handler, so that the client can ask for
 * them. Scopes of a class and scopes of its methods add up.
 * @throws TypeError for a text that is not a scope
 * @example
 * ```ts
 * @Tool({ description: 'Cancels an order' })
 * @RequireScopes('orders:write')
 * cancelOrder() {
 *   return 'cancelled';
 * }
 * ```
 */
export function RequireScopes(...scopes: string[]): MethodDecorator & ClassDecorator {
  const wrong = scopes.find(scope => !isScope(scope));
  if (wrong !== undefined) throw new TypeError(`@RequireScopes: ${JSON.stringify(wrong)} is not a scope`);
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    extendMetadata(SCOPES_METADATA, (descriptor?.value as object | undefined) ?? target, scopes);
  };
}

/**
 * Lets callers without a token use a handler, or all handlers of a class. A decorator of a method wins over a decorator of its
 * class. If a caller sends a token, it must be valid.
 * @example
 * ```ts
 * @Tool({ description: 'Tells the opening hours' })
 * @AllowAnonymous()
 * openingHours() {
 *   return '9 to 17';
 * }
 * ```
 */
export const AllowAnonymous = (): MethodDecorator & ClassDecorator => SetMetadata(ANONYMOUS_METADATA, true);
