import { createHash } from 'node:crypto';
import { isPlain } from '../../util/is-plain.js';
import type { InterceptorServerOptions } from './host-options.js';

const ids = new WeakMap<object, number>();
let lastId = 0;

/** What cannot be written down is only the same as itself. */
function identityOf(value: object): number {
  const id = ids.get(value) ?? ++lastId;
  ids.set(value, id);
  return id;
}

/**
 * What tells a host apart from all others that are ever asked: all of its options, so that nobody's messages go where
 * only somebody else's were meant to. Functions, clients and invokers are the same where they are the same object.
 */
export function hostIdOf(options: InterceptorServerOptions): string {
  const { client, invoker, ...written } = options as { client?: object; invoker?: object };
  const ready = [client, invoker].map(one => one && identityOf(one));
  return createHash('sha256')
    .update(JSON.stringify([ready, written], canonical))
    .digest('base64');
}

function canonical(_key: string, value: unknown): unknown {
  if (typeof value === 'function') return { identity: identityOf(value) };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (!isPlain(value)) return { identity: identityOf(value) };
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
