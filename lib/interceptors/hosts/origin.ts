import type { CallOrigin } from '../../execution/request-scope.js';

/** Where an exchange comes from, by its bag: a chain knows nothing of HTTP, but request-scoped providers need it. */
const ORIGINS = new WeakMap<object, CallOrigin>();

/** Remembers where the exchange of a bag comes from. */
export const bindOrigin = (bag: object, origin: CallOrigin): void => void ORIGINS.set(bag, origin);

/** Where the exchange of a bag comes from; the bag itself stands for an exchange that came from nowhere. */
export function originOf(bag: object): CallOrigin {
  const origin = ORIGINS.get(bag);
  if (origin) return origin;
  const own: CallOrigin = {};
  ORIGINS.set(bag, own);
  return own;
}
