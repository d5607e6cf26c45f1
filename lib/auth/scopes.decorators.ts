import { SetMetadata } from '@nestjs/common';
import { ANONYMOUS_METADATA, SCOPES_METADATA } from '../decorators/metadata.js';
import { extendMetadata } from '../decorators/extend-metadata.js';

/** A scope of RFC 6749, 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * Lets only callers use a handler, or all handlers of a class, whose token has all of these scopes. Without scopes, any token
 * that is good will do. Otherwise, the answer is HTTP 403, and names all scopes of the handler, so that the client can ask for
 * them. Scopes of a class are needed beside those of its methods.
 * @throws TypeError for a text that is not a scope
 */
export function RequireScopes(...scopes: string[]): MethodDecorator & ClassDecorator {
  const wrong = scopes.find(scope => !SCOPE.test(scope));
  if (wrong !== undefined) throw new TypeError(`@RequireScopes: ${JSON.stringify(wrong)} is not a scope`);
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    extendMetadata(SCOPES_METADATA, (descriptor?.value as object | undefined) ?? target, scopes);
  };
}

/**
 * Lets callers without a token use a handler, or all handlers of a class. A decorator of a method wins over one of its
 * class. A token that is sent all the same must be good.
 */
export const AllowAnonymous = (): MethodDecorator & ClassDecorator => SetMetadata(ANONYMOUS_METADATA, true);
