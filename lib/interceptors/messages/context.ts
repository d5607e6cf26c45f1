import type { McpCall } from '../../protocol/mcp-call.js';
import { traceOf } from '../../protocol/trace-id.js';
import { frozenCopy } from '../chain/frozen.js';
import type { Writable } from '../chain/result.js';
import type { InvocationContext, Principal } from '../protocol/types.js';
import type { CallOrigin } from '../../execution/request-scope.js';

const ANONYMOUS = Object.freeze({ type: 'anonymous' } as const);

export function contextOf(call: McpCall): InvocationContext {
  const { sessionId } = call;
  const trace = traceOf(call);
  const context: Writable<InvocationContext> = {
    principal: principalOf(call),
    timestamp: timestampOf(Date.now()),
  };
  if (trace) {
    context.traceId = trace.traceId;
    context.spanId = trace.spanId;
  }
  if (sessionId !== undefined) context.sessionId = sessionId;
  return Object.freeze(context);
}

/** The last second, up to its fraction, because `toISOString` takes as long as a validator. */
let last = { second: NaN, text: '' };

function timestampOf(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== last.second) last = { second, text: new Date(ms).toISOString().slice(0, -'000Z'.length) };
  return `${last.text}${String(ms % 1000).padStart(3, '0')}Z`;
}

/** The caller, as interceptors see it. */
export function principalOf({ authInfo, http, identity }: McpCall): Principal {
  if (authInfo) {
    const { clientId, scopes, extra = {} } = authInfo;
    const subject = extra['sub'];
    const claims = claimsOf({ ...extra, clientId, scopes });
    return Object.freeze(
      typeof subject === 'string'
        ? { type: 'user', id: subject, claims }
        : { type: 'service', id: clientId, claims },
    );
  }
  if (!http) return identity?.principal ?? ANONYMOUS;
  // Read by `Reflect`, because Express requests differ in shape, and V8 would try to optimise for each.
  const user: unknown = Reflect.get(http.request, 'user');
  if (typeof user !== 'object' || user === null) return ANONYMOUS;
  const { id, sub } = user as { id?: unknown; sub?: unknown };
  const name = id ?? sub;
  return Object.freeze({
    type: 'user',
    ...((typeof name === 'string' || typeof name === 'number') && { id: String(name) }),
    claims: claimsOf(user),
  });
}

function claimsOf(user: object): Readonly<Record<string, unknown>> {
  try {
    return frozenCopy(user) as Record<string, unknown>;
  } catch {
    const plain = Object.entries(user).filter(
      ([, value]) => typeof value !== 'object' && typeof value !== 'function',
    );
    return Object.freeze(Object.fromEntries(plain));
  }
}

/**
 * A bag that knows the origin of its exchange. The chain does not depend on HTTP, but request-scoped providers need the
 * request.
 */
export class ExchangeBag extends Map<unknown, unknown> {
  constructor(
    readonly origin: CallOrigin,
    readonly headers: Readonly<Record<string, unknown>> = {},
    /** The invoker of an `interceptor/invoke`. The invocation's own context holds only the invoker's claims. */
    readonly invoker?: InvocationContext,
  ) {
    super();
  }
}

/** The origin of an exchange. Without a request, the bag itself stands for it. */
export const originOf = (bag: object): CallOrigin => (bag instanceof ExchangeBag ? bag.origin : bag);
