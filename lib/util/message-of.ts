/** The message of what was thrown, which need not be an error, nor even something that has a text. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'it threw something that cannot be described';
  }
}
