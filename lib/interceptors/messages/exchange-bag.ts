import type { CallOrigin } from '../../execution/request-scope.js';
import type { InvocationContext } from '../protocol/types.js';

/** A bag that knows where its exchange comes from: a chain knows nothing of HTTP, but request-scoped providers need it. */
export class ExchangeBag extends Map<unknown, unknown> {
  constructor(
    readonly origin: CallOrigin,
    readonly headers: Readonly<Record<string, unknown>> = {},
    /** Who invokes, of an invocation that came in as `interceptor/invoke`: its own context is what the invoker says. */
    readonly invoker?: InvocationContext,
  ) {
    super();
  }
}

/** Origins of exchanges outside of a request. */
const ORIGINS = new WeakMap<object, CallOrigin>();

export function originOf(bag: object): CallOrigin {
  if (bag instanceof ExchangeBag) return bag.origin;
  const known = ORIGINS.get(bag);
  if (known) return known;
  const own: CallOrigin = {};
  ORIGINS.set(bag, own);
  return own;
}
