/** A variable of a route's path. */
export interface PathVariable {
  readonly name: string;
  readonly isRequired: boolean;
}

/**
 * The variables of a path, such as `/orders/:id{/:item}`.
 * @throws Error for a wildcard
 */
export function pathVariables(path: string): PathVariable[] {
  if (path.includes('*')) {
    throw new Error(
      `the wildcard in "${path}" stands for any number of segments, which no argument can hold`,
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
