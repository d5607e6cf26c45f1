import type { CanActivate, Type } from '@nestjs/common';
import { extendMetadata } from './extend-metadata.js';
import { GUARDS_METADATA, VISIBLE_METADATA } from './metadata.js';

type Guard = Type<CanActivate> | CanActivate;

/**
 * Shows a handler, or all handlers of a class, only to callers that all guards admit. Other callers do not find it in lists,
 * and a call fails as if the name were unknown. Each guard runs once for each handler and request, including list requests,
 * so it sees no arguments. If a guard throws, the handler is hidden.
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
    // Nest does not scan functions that are added as handlers at run time.
    if (prototype) holdGuards(prototype, key, all);
  };

/**
 * Attaches the guards to an extra method that is never called, so that Nest finds and creates them. On the handler
 * itself, they would refuse calls instead of hiding it.
 */
function holdGuards(prototype: object, key: string | symbol | undefined, guards: readonly Guard[]): void {
  const holder = () => undefined;
  Reflect.defineMetadata(GUARDS_METADATA, guards, holder);
  const name = `${VISIBLE_METADATA}:${String(key ?? '')}`;
  Object.defineProperty(prototype, name, { value: holder, configurable: true });
}
