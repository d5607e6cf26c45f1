/**
 * A deep copy that cannot be changed, so that an interceptor can neither alter what the caller holds nor what another
 * interceptor sees. Only plain objects and arrays are copied; anything else (a `Buffer`, a `Date`) is passed on.
 * @param earlier a frozen copy that this one is derived from: what the two share is not copied again
 */
export const frozenCopy = <T>(value: T, earlier?: unknown): T => copyItem(value, earlier, true) as T;

/** A deep copy that can be changed again. */
export const thawedCopy = <T>(value: T): T => copyItem(value, NOTHING, false) as T;

type Fields = Record<string | number, unknown>;

const NOTHING: Fields = Object.freeze({});

function copyOf(value: Fields, earlier: Fields, freeze: boolean): unknown {
  if (value === earlier) return value;
  let copy: unknown[] | Fields;
  if (Array.isArray(value)) {
    copy = value.map((item: unknown, index) => copyItem(item, earlier[index], freeze));
  } else if (isPlain(value)) {
    copy = {};
    for (const key of Object.keys(value)) {
      const item = copyItem(value[key], earlier[key], freeze);
      // A plain assignment to this one name would set the prototype instead.
      if (key === '__proto__') Object.defineProperty(copy, key, { value: item, enumerable: true });
      else copy[key] = item;
    }
  } else return value;
  return freeze ? Object.freeze(copy) : copy;
}

const copyItem = (item: unknown, earlier: unknown, freeze: boolean): unknown =>
  isObject(item) ? copyOf(item, isObject(earlier) ? earlier : NOTHING, freeze) : item;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}
