import { createHash } from 'node:crypto';
import { isPlain } from '../../util/is-plain.js';
import type { InterceptorServerOptions } from './host-options.js';

const ids = new WeakMap<object, number>();
let lastId = 0;

/** A function or an instance is only equal to itself. */
function identityOf(value: object): number {
  const id = ids.get(value) ?? ++lastId;
  ids.set(value, id);
  return id;
}

/** Identifies a host by all of its options: callers with other options never share its connection. */
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
