/** The message of a thrown value, which may be anything, even a value that cannot become a string. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'it threw something that cannot be described';
  }
}
