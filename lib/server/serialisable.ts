/** How deep an answer may be nested. */
const MAX_DEPTH = 1000;

/**
 * What keeps a value from being written as JSON: a BigInt, a cycle, or nesting without end. The SDK finds out only when
 * it writes the answer, and then writes none.
 */
export function unserialisable(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'bigint') return 'it holds a BigInt';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return 'it is circular, or nested too deeply';
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return unwritable(value);
  for (const key in value) {
    const found = unserialisable((value as Record<string, unknown>)[key], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unwritable(value: object): string | undefined {
  try {
    JSON.stringify(value);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
