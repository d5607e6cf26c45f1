import { hash } from 'node:crypto';

/** A digest of a JSON value, independent of the order of keys. */
export const digestOf = (value: unknown): string => hash('sha256', canonical(value), 'base64url');

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let members = '';
  if (Array.isArray(value)) {
    for (const item of value) members += `${members && ','}${canonical(item)}`;
    return `[${members}]`;
  }
  const fields = value as Record<string, unknown>;
  for (const key of sorted(Object.keys(fields))) {
    const field = fields[key];
    if (field === undefined) continue;
    members += `${members && ','}${JSON.stringify(key)}:${canonical(field)}`;
  }
  return `{${members}}`;
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
