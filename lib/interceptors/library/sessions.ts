import { createHash } from 'node:crypto';
import type { InterceptorInvocation } from '../authoring.js';
import { ExchangeBag } from '../messages/exchange-bag.js';
import { subjectOf } from '../protocol/subject.js';

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
 * its event. One of the application's own may say a `uri` and a `name`: `<event>@<scheme>://<authority> <name>`.
 */
export function originOf({ event, phase, payload, request }: InterceptorInvocation): string {
  const { kind, name, uri } = subjectOf(event, phase === 'request' ? payload : request) ?? {};
  const place = uri === undefined ? undefined : placeOf(uri);
  if (kind === 'own')
    return `${event}${place === undefined ? '' : `@${place}`}${name === undefined ? '' : ` ${name}`}`;
  const what = place ?? name;
  return what === undefined ? event : `${kind}:${what}`;
}

/** Without a space, so that nothing else looks like a place and a name. */
const placeOf = (uri: string): string =>
  (/^[a-z][a-z0-9+.-]{0,30}:(?:\/\/[^/?#]*)?/i.exec(uri)?.[0] ?? uri).replaceAll(' ', '%20');

/**
 * A text that may be kept: callers choose names, and so how long they are. Of a long one its beginning is kept, and a digest.
 * It is a copy, as what V8 cuts out of a text holds the whole of it.
 */
export function shortened(text: string): string {
  const kept =
    text.length <= 128
      ? text
      : `${text.slice(0, 64)}#${createHash('sha256').update(text, 'utf16le').digest('base64')}`;
  return Buffer.from(kept, 'utf16le').toString('utf16le');
}
