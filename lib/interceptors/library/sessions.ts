import { createHash } from 'node:crypto';
import type { InterceptorInvocation } from '../authoring.js';
import { ExchangeBag } from '../messages/context.js';
import { subjectOf } from '../protocol/subject.js';
import { LRUCache } from 'lru-cache';

export function sessionKeyOf({ context, bag }: InterceptorInvocation): string | object {
  if (context?.sessionId !== undefined) return `session:${context.sessionId}`;
  return principalKeyOf(context) ?? bag;
}

export function principalKeyOf(context: InterceptorInvocation['context']): string | undefined {
  const { type, id } = context?.principal ?? {};
  return id === undefined ? undefined : `principal:${type}:${id}`;
}

/**
 * The reserved prefix for keys of other parties' invocations. Other keys may contain callers' text, so they never start
 * with it.
 */
const INVOKED = 'invoked:';
const OWN = 'own:';

/** Separates the state of each party that sends `interceptor/invoke`, because such a party chooses its own context. */
export function stateKeyOf({ bag }: InterceptorInvocation, key: string): string {
  if (!(bag instanceof ExchangeBag) || bag.invoker === undefined) {
    return key.startsWith(INVOKED) || key.startsWith(OWN) ? OWN + key : key;
  }
  return `${INVOKED}${encodeURIComponent(JSON.stringify(principalKeyOf(bag.invoker) ?? ''))}:${key}`;
}

export const invokerOf = (stateKey: string): string | undefined =>
  stateKey.startsWith(INVOKED) ? stateKey.slice(0, stateKey.indexOf(':', INVOKED.length)) : undefined;

/**
 * The subject of a message: `tool:<name>`, `prompt:<name>`, `resource:<scheme>://<authority>`, otherwise the event. For
 * an event of the application, `<event>@<scheme>://<authority> <name>`.
 */
export function originOf({ event, phase, payload, request }: InterceptorInvocation): string {
  const { kind, name, uri } = subjectOf(event, phase === 'request' ? payload : request) ?? {};
  const place = uri === undefined ? undefined : placeOf(uri);
  if (kind === 'own')
    return `${event}${place === undefined ? '' : `@${place}`}${name === undefined ? '' : ` ${name}`}`;
  const what = place ?? name;
  return what === undefined ? event : `${kind}:${what}`;
}

/** Without spaces, so that a place cannot look like a place with a name. */
const placeOf = (uri: string): string =>
  (/^[a-z][a-z0-9+.-]{0,30}:(?:\/\/[^/?#]*)?/i.exec(uri)?.[0] ?? uri).replaceAll(' ', '%20');

/** Shortens a name that a caller chose. It copies the text, because a V8 slice would keep the whole text in memory. */
export function shortened(text: string): string {
  const kept =
    text.length <= 128
      ? text
      : `${text.slice(0, 64)}#${createHash('sha256').update(text, 'utf16le').digest('base64')}`;
  return Buffer.from(kept, 'utf16le').toString('utf16le');
}

/** Maximum invokers with state. A further invoker replaces the least recently used. */
const MAX_INVOKERS = 100;

/** Separate state for each party that sends `interceptor/invoke`, so that it cannot displace the state of others. */
export class PerInvoker<T extends object> {
  private readonly own: T;
  private readonly invoked = new LRUCache<string, T>({ max: MAX_INVOKERS });

  constructor(private readonly create: () => T) {
    this.own = create();
  }

  peek(stateKey: string): T | undefined {
    const invoker = invokerOf(stateKey);
    return invoker === undefined ? this.own : this.invoked.peek(invoker);
  }

  of(stateKey: string): T {
    const invoker = invokerOf(stateKey);
    if (invoker === undefined) return this.own;
    const state = this.invoked.get(invoker) ?? this.create();
    this.invoked.set(invoker, state);
    return state;
  }
}

/** Admits a bounded number of keys at a time, for each invoker, each with an expiry. */
export class KeyBound {
  private readonly expiries = new PerInvoker(() => new Map<string, number>());

  constructor(
    private readonly maxKeys: number,
    private readonly lifeMs: number,
    private readonly now: () => number = Date.now,
  ) {}

  admit(key: string): string {
    const now = this.now();
    const expiry = this.expiries.of(key);
    if (!expiry.delete(key) && expiry.size >= this.maxKeys) {
      // In order of use: the first key is the least recently used.
      const [[oldest, expires]] = expiry;
      const invoker = invokerOf(key);
      if (expires > now) return invoker === undefined ? 'shared' : `shared by ${invoker}`;
      expiry.delete(oldest);
    }
    expiry.set(key, now + this.lifeMs);
    return `key:${key}`;
  }
}
