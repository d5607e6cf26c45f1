import { createHash } from 'node:crypto';
import type { InterceptorInvocation } from '../authoring.js';
import { ExchangeBag } from '../hosts/origin.js';
import { ownSubjectOf, subjectOf } from '../protocol/subject.js';

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
const OWN = 'own:';

/**
 * The key of an interceptor's state. Whoever sends `interceptor/invoke` says itself who calls, so that its keys begin with
 * who it is: its principal, or one of all that have none, in however many sessions. It shares no state with the
 * application's own traffic, nor with other principals that invoke.
 */
export function stateKeyOf({ bag }: InterceptorInvocation, key: string): string {
  if (!(bag instanceof ExchangeBag) || bag.invoker === undefined) {
    return key.startsWith(INVOKED) || key.startsWith(OWN) ? OWN + key : key;
  }
  return `${INVOKED}${encodeURIComponent(JSON.stringify(principalKeyOf(bag.invoker) ?? ''))}:${key}`;
}

/** Who invoked what a state's key is of; undefined where it is of the application's own traffic. */
export const invokerOf = (stateKey: string): string | undefined =>
  stateKey.startsWith(INVOKED) ? stateKey.slice(0, stateKey.indexOf(':', INVOKED.length)) : undefined;

/**
 * What a message is addressed to, or comes from: `tool:<name>`, `prompt:<name>`, `resource:<scheme>://<authority>`, or else
 * its event, with the `name` and the place of the `uri` that one of the application's own says: `<event>:<name>`.
 */
export function originOf({ event, phase, payload, request }: InterceptorInvocation): string {
  const params = phase === 'request' ? payload : request;
  const subject = subjectOf(event, params);
  if (subject) return `${subject.kind}:${subject.kind === 'resource' ? placeOf(subject.name) : subject.name}`;
  const { name, uri } = ownSubjectOf(event, params);
  const said = [event, name, uri === undefined ? uri : placeOf(uri)];
  return said.filter(part => part !== undefined).join(':');
}

const placeOf = (uri: string): string => /^[a-z][a-z0-9+.-]{0,30}:(?:\/\/[^/?#]*)?/i.exec(uri)?.[0] ?? uri;

/** Callers choose names, and so how long they are: of a long one its beginning is kept, and a digest. */
export const shortened = (text: string): string =>
  text.length <= 128 ? text : `${text.slice(0, 64)}#${createHash('sha256').update(text).digest('base64')}`;
