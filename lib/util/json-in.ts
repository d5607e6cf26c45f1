/** Parses JSON that others may have written. @returns undefined for text that is not JSON, and for no text */
export function jsonIn(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
