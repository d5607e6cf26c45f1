import { hash } from 'node:crypto';

/** A digest of a JSON value, independent of the order of keys. */
export const digestOf = (value: unknown): string =>
  hash('sha256', JSON.stringify(ordered(value)) ?? 'null', 'base64url');

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  const fields = value as Record<string, unknown>;
  const copy: Record<string, unknown> = {};
  for (const key of sorted(Object.keys(fields))) {
    const field = ordered(fields[key]);
    // A plain assignment to `__proto__` would set the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: field, enumerable: true });
    else copy[key] = field;
  }
  return copy;
}

/** Sorts in place. Most objects have few keys, for which `sort` allocates more than the keys themselves. */
function sorted(keys: string[]): string[] {
  if (keys.length > MAX_INSERTED) return keys.sort();
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end];
    let place = end;
    for (; place > 0 && keys[place - 1] > key; place--) keys[place] = keys[place - 1];
    keys[place] = key;
  }
  return keys;
}

const MAX_INSERTED = 16;
