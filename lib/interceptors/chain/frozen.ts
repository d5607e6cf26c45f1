/** Objects that this module froze itself: nobody else holds them unfrozen, so they need no second copy. */
const OURS = new WeakSet();

/**
 * A deep copy that cannot be changed, so that an interceptor can neither alter what the caller holds nor what another
 * interceptor sees. Only plain objects and arrays are copied; anything else (a `Buffer`, a `Date`) is passed on.
 */
export function frozenCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || OURS.has(value)) return value;
  const copy = copyOf(value, frozenCopy);
  if (copy === value) return value;
  Object.freeze(copy);
  OURS.add(copy as object);
  return copy;
}

/** A deep copy that can be changed again. */
export function thawedCopy<T>(value: T): T {
  return typeof value === 'object' && value !== null ? copyOf(value, thawedCopy) : value;
}

function copyOf<T>(value: T & object, each: <V>(value: V) => V): T {
  if (Array.isArray(value)) return value.map(item => each(item) as unknown) as T;
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy = {} as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    const item = each((value as Record<string, unknown>)[key]);
    // A plain assignment to this one name would set the prototype instead.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: item, enumerable: true });
    else copy[key] = item;
  }
  return copy as T;
}
