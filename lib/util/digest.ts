import { hash } from 'node:crypto';

/** A digest of a JSON value, independent of the order of keys. */
export const digestOf = (value: unknown): string => hash('sha256', canonical(value), 'base64url');

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = value as Record<string, unknown>;
  const keys = Object.keys(fields).filter(key => fields[key] !== undefined);
  const members = keys.sort().map(key => `${JSON.stringify(key)}:${canonical(fields[key])}`);
  return `{${members.join(',')}}`;
}
