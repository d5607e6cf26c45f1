/** Thrown when the client cancels or disconnects, or the server shuts down. */
export class CallCancelled extends Error {
  constructor() {
    super('The call was cancelled');
  }
}

/** Whether the error is the signal's reason, or the `AbortError` that `fetch` and other functions throw for it. */
export const isCancellation = (error: unknown, { aborted, reason }: AbortSignal): boolean =>
  aborted && (error === reason || (error instanceof Error && error.name === 'AbortError'));
