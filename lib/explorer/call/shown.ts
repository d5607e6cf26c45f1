import { inspect } from 'node:util';
import type { Shown } from '../api.js';

/** The most characters of a value that is shown whole. */
const MAX_VALUE = 64 * 1024;
const PREVIEW = 2 * 1024;

/** The most characters of all values of one answer. */
const MAX_ALL = 4 * 1024 * 1024;

/** Bounds what one answer of the API shows. */
export class Showing {
  private left = MAX_ALL;

  show(value: unknown): Shown {
    const { json, read } = jsonOf(value);
    const size = json.length;
    const isWhole = size <= Math.min(MAX_VALUE, this.left);
    this.left -= isWhole ? size : PREVIEW;
    return isWhole ? { value: read, size } : { preview: json.slice(0, PREVIEW), size };
  }
}

/** An interceptor in audit mode may return values that JSON does not have. */
function jsonOf(value: unknown): { json: string; read: unknown } {
  try {
    return { json: JSON.stringify(value) ?? 'null', read: value };
  } catch {
    const json = JSON.stringify(inspect(value, { depth: 10, maxStringLength: PREVIEW }));
    return { json, read: JSON.parse(json) };
  }
}
