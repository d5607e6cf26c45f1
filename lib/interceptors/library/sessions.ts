import type { InterceptorInvocation } from '../authoring.js';
import { ExchangeBag } from '../hosts/origin.js';

type Json = Readonly<Record<string, unknown>>;

/** What an invocation belongs to: its session, else its principal, else its one exchange. */
export function sessionKeyOf({ context, bag }: InterceptorInvocation): string | object {
  if (context?.sessionId !== undefined) return `session:${context.sessionId}`;
  return principalKeyOf(context) ?? bag;
}

/** The principal, where it has an id. */
export function principalKeyOf(context: InterceptorInvocation['context']): string | undefined {
  const { type, id } = context?.principal ?? {};
  return id === undefined ? undefined : `principal:${type}:${id}`;
}

/** What the keys of others' invocations begin with, and no others: a key may be made of what callers say. */
const INVOKED = 'invoked:';

/**
 * The key of an interceptor's state. Whoever sends `interceptor/invoke` says itself who calls, so that its keys begin with
 * who it is: its principal, else its session, else one of all that have neither. It shares no state with the application's
 * own traffic, nor with other invokers.
 */
export function stateKeyOf({ bag }: InterceptorInvocation, key: string): string {
  if (!(bag instanceof ExchangeBag) || bag.invoker === undefined) return isInvoked(key) ? `own:${key}` : key;
  const { invoker } = bag;
  return `${INVOKED}${JSON.stringify([principalKeyOf(invoker) ?? invoker.sessionId])}${key}`;
}

/** Whether a state's key is that of an `interceptor/invoke`. */
export const isInvoked = (stateKey: string): boolean => stateKey.startsWith(INVOKED);

/** What a message is addressed to, or comes from: `tool:<name>`, `prompt:<name>`, `resource:<scheme>://<authority>`, or its event. */
export function originOf({ event, phase, payload, request }: InterceptorInvocation): string {
  const params = (phase === 'request' ? payload : request) as Json | null | undefined;
  const ref = event === 'completion/complete' ? (params?.ref as Json | undefined) : params;
  const { name, uri } = ref ?? {};
  if (event === 'tools/call' && typeof name === 'string') return `tool:${name}`;
  if (typeof uri === 'string')
    return `resource:${/^[a-z][a-z0-9+.-]{0,30}:(?:\/\/[^/?#]*)?/i.exec(uri)?.[0] ?? uri}`;
  if (typeof name === 'string') return `prompt:${name}`;
  return event;
}
