import type { SchemaIssue, SchemaResult } from './types.js';

/** Maximum issues in a result, because a client can cause an issue with every item. */
const MAX_ISSUES = 100;

export function success<T>(value: T): SchemaResult<T> {
  return { ok: true, value };
}

export function failure(issues: readonly SchemaIssue[]): SchemaResult<never> {
  return { ok: false, issues: issues.slice(0, MAX_ISSUES) };
}

/** Appends a step to a path. A number is an index, another key is a property. */
export function childPath(path: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path ? `${path}.${String(step)}` : String(step);
}
