export function matchesGlob(pattern: string, name: string): boolean {
  const [head, ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === name;
  if (!name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - tail.length;
}

export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some(pattern => matchesGlob(pattern, name));
