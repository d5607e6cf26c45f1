/** The client cancelled or left, or the server shuts down. */
export class CallCancelled extends Error {
  constructor() {
    super('The call was cancelled');
  }
}

/** The signal's reason, or the error that `fetch` and others make of it. */
export const isCancellation = (error: unknown, { aborted, reason }: AbortSignal): boolean =>
  aborted && (error === reason || (error instanceof Error && error.name === 'AbortError'));
