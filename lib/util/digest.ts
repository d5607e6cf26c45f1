import { createHash } from 'node:crypto';

/** A digest of a JSON value, independent of the order of keys. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonical(value)).digest('base64url');

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
  return `{${fields.join(',')}}`;
}
