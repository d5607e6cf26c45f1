import type { CompleteResult } from '@modelcontextprotocol/server';

/** The maximum number of values in a completion (specification: server/utilities/completion). */
const MAX_VALUES = 100;

/**
 * Converts a completion handler's return value to the protocol's result.
 * @throws Error for a value that is not a list of strings
 */
export function toCompletion(value: unknown): CompleteResult {
  const { values, total, hasMore } = (
    Array.isArray(value) ? { values: value } : (value ?? { values: [] })
  ) as { values?: unknown; total?: number; hasMore?: boolean };
  if (!Array.isArray(values) || values.some(item => typeof item !== 'string')) {
    throw new Error('A completion must return strings, or { values, total, hasMore }');
  }
  return {
    completion: {
      values: (values as string[]).slice(0, MAX_VALUES),
      total: total ?? values.length,
      hasMore: hasMore ?? values.length > MAX_VALUES,
    },
  };
}
