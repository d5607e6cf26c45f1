import type { CanActivate, Type } from '@nestjs/common';
import { extendMetadata } from './extend-metadata.js';
import { GUARDS_METADATA, VISIBLE_METADATA } from './metadata.js';

type Guard = Type<CanActivate> | CanActivate;

/**
 * Shows a handler, or all handlers of a class, only to callers that all guards admit. For anybody else, it does not exist: it is
 * in no list, and a call is answered like one of an unknown name. Each guard decides once for each handler and request, on
 * lists too, and so without arguments; an error that it throws hides the handler.
 * @example
 * ```ts
 * @Visible(BetaUsersGuard)
 * @Tool({ description: 'Plans a route with the new engine' })
 * plan(@Args() route: RouteDto) {}
 * ```
 */
export const Visible =
  (...guards: Guard[]): MethodDecorator & ClassDecorator =>
  (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
    const all = extendMetadata(VISIBLE_METADATA, (descriptor?.value as object | undefined) ?? target, guards);
    const prototype = typeof target === 'function' ? (target.prototype as object | undefined) : target;
    // Nest does not scan a function that is added as a handler at run time.
    if (prototype) holdGuards(prototype, key, all);
  };

/**
 * Nest makes the guards that it finds on methods, and finds them on any. A method that nobody calls holds these, because
 * on the handler itself they would refuse calls instead of hiding it.
 */
function holdGuards(prototype: object, key: string | symbol | undefined, guards: readonly Guard[]): void {
  const holder = () => undefined;
  Reflect.defineMetadata(GUARDS_METADATA, guards, holder);
  const name = `${VISIBLE_METADATA}:${String(key ?? '')}`;
  Object.defineProperty(prototype, name, { value: holder, configurable: true });
}
