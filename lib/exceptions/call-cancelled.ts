/** The client cancelled the call or went away, or the server shuts down: nobody waits for the result any more. */
export class CallCancelled extends Error {
  constructor() {
    super('The call was cancelled');
  }
}

/** Whether an error only says that the signal fired: the reason itself, or what `fetch` and others make of it. */
export const isCancellation = (error: unknown, { aborted, reason }: AbortSignal): boolean =>
  aborted && (error === reason || (error instanceof Error && error.name === 'AbortError'));
