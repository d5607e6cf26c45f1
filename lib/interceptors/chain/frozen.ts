import { isPlain } from '../../util/is-record.js';

/**
 * A deep, frozen copy. Class instances become JSON, by `toJSON()` or by their own fields.
 * @param earlier a frozen copy whose unchanged parts are reused
 * @throws Error if the value contains itself, or is nested more than 1,000 levels deep
 */
export const frozenCopy = <T>(value: T, earlier?: unknown): T => copyItem(value, earlier, true, 0) as T;

/** The same for a report, which contains such copies a few levels deep. */
export const frozenReport = <T>(value: T): T => copyItem(value, NOTHING, true, -REPORT_DEPTH) as T;

/** Freezes plain objects and lists, and keeps other values, such as regular expressions. */
export const frozenConfig = <T>(value: T): T => configCopy(value, 0) as T;

export const thawedCopy = <T>(value: T): T => copyItem(value, NOTHING, false, 0) as T;

type Fields = Record<string | number, unknown>;

const NOTHING: Fields = Object.freeze({});
const MAX_DEPTH = 1000;
const TOO_DEEP = 'it contains itself, or is nested too deeply';
/**
 * The levels of a report above a copied payload (report, result, results, entry, diff, operation), with some reserve.
 */
const REPORT_DEPTH = 10;

const copyItem = (item: unknown, earlier: unknown, freeze: boolean, depth: number): unknown =>
  isObject(item) ? copyOf(item, isObject(earlier) ? earlier : NOTHING, freeze, depth + 1) : item;

function copyOf(value: Fields, earlier: Fields, freeze: boolean, depth: number): unknown {
  if (value === earlier) return value;
  if (depth > MAX_DEPTH) throw new Error(TOO_DEEP);
  // A fast path, because every message is copied, and most values are neither objects nor derived from an earlier copy.
  const isDerived = earlier !== NOTHING;
  let copy: unknown[] | Fields;
  if (Array.isArray(value)) {
    copy = value.map((item: unknown, index) =>
      isObject(item) ? copyItem(item, isDerived ? earlier[index] : NOTHING, freeze, depth) : item,
    );
  } else {
    if (!isPlain(value)) {
      if (isBuiltIn(value)) return copyBuiltIn(value);
      if (hasToJson(value)) return copyItem(value.toJSON(), earlier, freeze, depth);
    }
    copy = {};
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      let item = value[key];
      if (isObject(item)) item = copyItem(item, isDerived ? earlier[key] : NOTHING, freeze, depth);
      // A plain assignment to `__proto__` would set the prototype.
      if (key === '__proto__') Object.defineProperty(copy, key, { value: item, enumerable: true });
      else copy[key] = item;
    }
  }
  return freeze ? Object.freeze(copy) : copy;
}

function configCopy(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Error(TOO_DEEP);
  if (Array.isArray(value)) return Object.freeze(value.map(item => configCopy(item, depth + 1)));
  if (!isObject(value) || !isPlain(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, configCopy(item, depth + 1)]);
  return Object.freeze(Object.fromEntries(entries));
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

const hasToJson = (value: Fields): value is Fields & { toJSON(): unknown } =>
  typeof value['toJSON'] === 'function';

type BuiltIn = Date | Map<unknown, unknown> | Set<unknown> | ArrayBuffer | ArrayBufferView;

const isBuiltIn = (value: unknown): value is BuiltIn =>
  ArrayBuffer.isView(value) ||
  value instanceof Date ||
  value instanceof Map ||
  value instanceof Set ||
  value instanceof ArrayBuffer;

const copyBuiltIn = (value: BuiltIn): unknown =>
  Buffer.isBuffer(value) ? Buffer.from(value) : structuredClone(value);
