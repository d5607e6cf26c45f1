/** What an event pattern stands for: `*` for every event, `tools/*` for a namespace, else the event itself. */
export function matchesEvent(pattern: string, event: string): boolean {
  return (
    pattern === '*' || pattern === event || (pattern.endsWith('/*') && event.startsWith(pattern.slice(0, -1)))
  );
}

/** Whether everything that `narrow` stands for, `wide` stands for too. */
export const coversPattern = (wide: string, narrow: string): boolean =>
  wide === '*' || wide === narrow || (narrow !== '*' && matchesEvent(wide, narrow));
