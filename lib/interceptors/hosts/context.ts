import type { Exchange } from '../../server/exchange.js';
import type { InvocationContext } from '../protocol/types.js';

/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/;

/** What interceptors are told of an exchange: who calls, in which session and trace, and when. */
export function contextOf(exchange: Exchange): InvocationContext {
  const trace = TRACEPARENT.exec(traceparentOf(exchange) ?? '');
  return {
    principal: principalOf(exchange),
    ...(trace && { traceId: trace[1], spanId: trace[2] }),
    timestamp: new Date().toISOString(),
    ...(exchange.sessionId !== undefined && { sessionId: exchange.sessionId }),
  };
}

/** The caller, as the application's own authentication knows it: `request.auth`, else `request.user`. */
function principalOf({ authInfo, http }: Exchange): NonNullable<InvocationContext['principal']> {
  if (authInfo) {
    const { clientId, scopes, extra = {} } = authInfo;
    const subject = extra['sub'];
    const claims = { ...extra, clientId, scopes };
    return typeof subject === 'string'
      ? { type: 'user', id: subject, claims }
      : { type: 'service', id: clientId, claims };
  }
  const user = (http?.request as { user?: unknown } | undefined)?.user;
  if (typeof user !== 'object' || user === null) return { type: 'anonymous' };
  const { id, sub } = user as { id?: unknown; sub?: unknown };
  const name = id ?? sub;
  return {
    type: 'user',
    ...((typeof name === 'string' || typeof name === 'number') && { id: String(name) }),
    claims: user as Record<string, unknown>,
  };
}

function traceparentOf({ meta, http }: Exchange): string | undefined {
  const value = meta?.['traceparent'] ?? http?.headers['traceparent'];
  return typeof value === 'string' ? value : undefined;
}
