import type { SchemaIssue, SchemaResult } from './types.js';

/** A client can cause one issue for every item it sends; nobody reads more than these. */
const MAX_ISSUES = 100;

export function success<T>(value: T): SchemaResult<T> {
  return { ok: true, value };
}

export function failure(issues: readonly SchemaIssue[]): SchemaResult<never> {
  return { ok: false, issues: issues.slice(0, MAX_ISSUES) };
}

/** `path`, one step further: a number is an index, anything else a property. */
export function childPath(path: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path ? `${path}.${String(step)}` : String(step);
}
