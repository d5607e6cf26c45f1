import { childPath } from './result.js';
import type { SchemaIssue } from './types.js';

/**
 * A copy of plain data for class-transformer, which deletes discriminators from what it is given. Keys that
 * every object inherits (`__proto__`, `constructor`, `toString`) become issues: class-transformer trips over
 * them, or drops them without a word. Instances of classes are passed through.
 */
export function copyPlain(value: unknown, path: string, issues: SchemaIssue[]): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => copyPlain(item, childPath(path, index), issues));
  if (!isPlain(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    const childsPath = childPath(path, key);
    if (key in Object.prototype)
      issues.push({ path: childsPath, message: `property ${key} should not exist` });
    else copy[key] = copyPlain(child, childsPath, issues);
  }
  return copy;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
