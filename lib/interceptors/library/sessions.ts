import type { InterceptorInvocation } from '../authoring.js';
import { ExchangeBag } from '../hosts/origin.js';
import { mayHaveSubject, subjectOf } from '../protocol/subject.js';

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
 * who it is: its principal, or one of all that have none, in however many sessions. It shares no state with the
 * application's own traffic, nor with other principals that invoke.
 */
export function stateKeyOf({ bag }: InterceptorInvocation, key: string): string {
  if (!(bag instanceof ExchangeBag) || bag.invoker === undefined) {
    return invokerOf(key) === undefined ? key : `own:${key}`;
  }
  return `${INVOKED}${encodeURIComponent(JSON.stringify(principalKeyOf(bag.invoker) ?? ''))}:${key}`;
}

/** Who invoked what a state's key is of; undefined where it is of the application's own traffic. */
export const invokerOf = (stateKey: string): string | undefined =>
  stateKey.startsWith(INVOKED) ? stateKey.slice(0, stateKey.indexOf(':', INVOKED.length)) : undefined;

/**
 * What a message is addressed to, or comes from: `tool:<name>`, `prompt:<name>`, `resource:<scheme>://<authority>`, or its
 * event. One of the application's own goes by its `uri`, as a resource, or its `name`, as a prompt.
 */
export function originOf({ event, phase, payload, request }: InterceptorInvocation): string {
  const params = phase === 'request' ? payload : request;
  const subject = subjectOf(event, params);
  if (subject?.kind === 'resource') return resourceAt(subject.name);
  if (subject) return `${subject.kind}:${subject.name}`;
  if (!mayHaveSubject(event)) return event;
  const { name, uri } = (params ?? {}) as { readonly name?: unknown; readonly uri?: unknown };
  if (typeof uri === 'string') return resourceAt(uri);
  return typeof name === 'string' ? `prompt:${name}` : event;
}

const resourceAt = (uri: string): string =>
  `resource:${/^[a-z][a-z0-9+.-]{0,30}:(?:\/\/[^/?#]*)?/i.exec(uri)?.[0] ?? uri}`;
