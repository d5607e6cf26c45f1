import type { SchemaIssue, SchemaResult } from './types.js';

/** A client can cause an issue with every item it sends. */
const MAX_ISSUES = 100;

export function success<T>(value: T): SchemaResult<T> {
  return { ok: true, value };
}

export function failure(issues: readonly SchemaIssue[]): SchemaResult<never> {
  return { ok: false, issues: issues.slice(0, MAX_ISSUES) };
}

/** A number is an index, another key a property. */
export function childPath(path: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path ? `${path}.${String(step)}` : String(step);
}
