import { COUNT, objectOf } from '../../../options/option-schema.js';
import { jsonValue } from '../json-size.js';

/** The largest payload that `mapTexts` walks. */
export interface ScanLimits {
  /** Maximum nesting of objects and arrays. Default: 64. */
  readonly maxDepth?: number;
  /** Maximum values, including keys. Default: 100,000. */
  readonly maxNodes?: number;
  /**
   * Maximum UTF-16 units of all texts together. Default: 4,194,304, enough for the largest request that the endpoint
   * reads by default; raise it together with `http.maxBodyBytes`.
   */
  readonly maxChars?: number;
}

export const SCAN_LIMITS = objectOf<ScanLimits>({ maxDepth: COUNT, maxNodes: COUNT, maxChars: COUNT });

export class ScanLimitError extends Error {}

export interface TextPlace {
  /** The key of the text, or the text itself if it is a key. Undefined in an array and at the root. */
  readonly key: string | undefined;
  /** The key of the array or object that contains the text or its key. Undefined at the root and directly below it. */
  readonly within: string | undefined;
  readonly isKey: boolean;
  /**
   * Whether the protocol defines this place. False in `arguments`, `structuredContent`, `_meta` and the `data` of a log
   * message.
   */
  readonly isProtocol: boolean;
  /** Set for the base64 of an image, a sound or a resource: `text` if the bytes are text, otherwise `bytes`. */
  readonly binary?: 'bytes' | 'text';
}

const FREE_FORM = new Set(['arguments', 'structuredContent', '_meta', 'data']);

type Json = Readonly<Record<string, unknown>>;

/**
 * Replaces every text of a payload, keys included, by the result of `visit`. Returns `payload` itself if nothing changed,
 * so that a mutator can return it. Leaves the sealed top-level `requestState` alone.
 * @param limits Default: 64 levels, 100,000 values, 4,194,304 UTF-16 units
 * @throws ScanLimitError for a payload beyond the limits, so that a mutator fails and blocks the message
 * @example
 * // Decorated with `Mutator({ events: ['tools/call'], phase: 'response' })`
 * mask({ payload }: InterceptorInvocation) {
 *   return mapTexts(payload, (text, { isKey }) => (isKey ? text : text.replace(/\b\d{16}\b/g, '[card]')));
 * }
 */
export function mapTexts(
  payload: unknown,
  visit: (text: string, place: TextPlace) => string,
  limits: ScanLimits = {},
): unknown {
  const root = { key: undefined, within: undefined, isKey: false, isProtocol: true };
  return new Scan(visit, limits).value(payload, root, 0);
}

class Scan {
  private readonly maxDepth: number;
  private nodes: number;
  private chars: number;

  constructor(
    private readonly visit: (text: string, place: TextPlace) => string,
    { maxDepth = 64, maxNodes = 100_000, maxChars = 4_194_304 }: ScanLimits,
  ) {
    this.maxDepth = maxDepth;
    this.nodes = maxNodes;
    this.chars = maxChars;
  }

  value(given: unknown, place: TextPlace, depth: number): unknown {
    if (--this.nodes < 0) throw new ScanLimitError('the payload has too many values to be scanned');
    if (typeof given === 'string') return this.text(given, place);
    if (typeof given !== 'object' || given === null) return given;
    if (depth >= this.maxDepth) throw new ScanLimitError('the payload is nested too deep to be scanned');
    const value = jsonValue(given);
    if (typeof value !== 'object' || value === null) {
      const plain = this.value(value, place, depth + 1);
      return plain === value ? given : plain;
    }
    const mapped = Array.isArray(value) ? this.list(value, place, depth) : this.record(value, place, depth);
    return mapped === value ? given : mapped;
  }

  private list(list: readonly unknown[], place: TextPlace, depth: number): unknown {
    const item = { ...place, key: undefined, within: place.key ?? place.within, binary: undefined };
    const mapped = list.map(value => this.value(value, item, depth + 1));
    return mapped.some((value, index) => value !== list[index]) ? mapped : list;
  }

  private record(record: object, { key: own, within, isProtocol }: TextPlace, depth: number): unknown {
    const entries = new Map<string, unknown>();
    const taken = new Map<string, number>();
    let changed = false;
    for (const [key, value] of Object.entries(record)) {
      if (depth === 0 && key === 'requestState') {
        entries.set(key, value);
        continue;
      }
      const place = { key, within: own ?? within, isKey: true, isProtocol };
      const newKey = this.text(key, place);
      const newValue = this.value(
        value,
        {
          ...place,
          isKey: false,
          isProtocol: isProtocol && !FREE_FORM.has(key),
          ...(isProtocol && isBinarySlot(record as Json, key) && { binary: binaryOf(value) }),
        },
        depth + 1,
      );
      changed ||= newKey !== key || newValue !== value;
      entries.set(newKey === key ? key : unused(newKey, record, taken), newValue);
    }
    // `fromEntries` defines properties, so a key `__proto__` stays a key.
    return changed ? Object.fromEntries(entries) : record;
  }

  private text(text: string, place: TextPlace): string {
    if (place.binary !== 'bytes') this.chars -= text.length;
    if (this.chars < 0) throw new ScanLimitError('the payload has too much text to be scanned');
    return this.visit(text, place);
  }
}

const isBinarySlot = (record: Json, key: string): boolean =>
  (key === 'data' && (record.type === 'image' || record.type === 'audio')) ||
  (key === 'blob' && typeof record.uri === 'string');

/** The type of strict base64 data. Any other value in its place is an ordinary text. */
function binaryOf(value: unknown): TextPlace['binary'] {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/.test(value)) return undefined;
  const head = Buffer.from(value.slice(0, 256), 'base64').toString('utf8').slice(0, -1);
  return /^(?:[\t\n\r]|[^\p{Cc}\ufffd])*$/u.test(head) ? 'text' : 'bytes';
}

/** Makes a redacted key unique, so that two keys stay two keys. */
function unused(key: string, record: object, taken: Map<string, number>): string {
  let count = taken.get(key) ?? 0;
  let free: string;
  do free = ++count === 1 ? key : `${key}#${count}`;
  while (Object.hasOwn(record, free));
  taken.set(key, count);
  return free;
}
