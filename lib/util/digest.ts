import { hash } from 'node:crypto';

/** A digest of a JSON value, independent of the order of keys. */
export const digestOf = (value: unknown): string => hash('sha256', canonical(value), 'base64url');

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = value as Record<string, unknown>;
  let members = '';
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key];
    if (field === undefined) continue;
    members += `${members && ','}${JSON.stringify(key)}:${canonical(field)}`;
  }
  return `{${members}}`;
}
