export interface PathVariable {
  readonly name: string;
  readonly isRequired: boolean;
}

/**
 * The variables of a path, such as `/orders/:id{/:item}`.
 * @throws Error for a wildcard, and for a pattern
 */
export function pathVariables(path: string): PathVariable[] {
  if (path.includes('*')) {
    throw new Error(
      `the wildcard in "${path}" stands for any number of segments, which no argument can hold`,
    );
  }
  if (path.includes('(')) {
    throw new Error(
      `the pattern in "${path}" decides which requests the route gets, and a tool would not check it: check the value with a pipe instead`,
    );
  }
  const found: PathVariable[] = [];
  let depth = 0;
  for (const [match, brace, name] of path.matchAll(/([{}])|:([A-Za-z_$][\w$]*)\??/g)) {
    if (brace !== undefined) depth += brace === '{' ? 1 : -1;
    else found.push({ name, isRequired: depth === 0 && !match.endsWith('?') });
  }
  return found;
}
