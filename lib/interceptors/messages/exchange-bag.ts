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

/** What stands for the origin of an exchange that came from nowhere. */
const ORIGINS = new WeakMap<object, CallOrigin>();

/** Where the exchange of a bag comes from: always the same object for the same bag. */
export function originOf(bag: object): CallOrigin {
  if (bag instanceof ExchangeBag) return bag.origin;
  const known = ORIGINS.get(bag);
  if (known) return known;
  const own: CallOrigin = {};
  ORIGINS.set(bag, own);
  return own;
}
