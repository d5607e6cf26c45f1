/** The steps of a JSON Pointer (RFC 6901). */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export const isJsonPointer = (value: unknown): value is string =>
  typeof value === 'string' && /^(\/([^~/]|~[01])*)*$/.test(value);
