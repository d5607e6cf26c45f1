/** The kinds of `MrtrError`: its `code`, which also ends its message. */
export type MrtrErrorCode =
  | 'MRTR_ASK_IN_STEP'
  | 'MRTR_ASK_NOT_AWAITED'
  | 'MRTR_ASK_AFTER_RETURN'
  | 'MRTR_ASK_SWALLOWED'
  | 'MRTR_DUPLICATE_KEY'
  | 'MRTR_INVALID_KEY'
  | 'MRTR_INVALID_INPUT_REQUEST'
  | 'MRTR_KIND_CHANGED'
  | 'MRTR_INPUT_REQUEST_CHANGED'
  | 'MRTR_RACE'
  | 'MRTR_STEP_RESULT'
  | 'MRTR_TOO_MANY_ROUNDS';

/**
 * A mistake in how a handler asks its client. The message is for the author; clients only learn that the call failed.
 * @example
 * ```ts
 * await expect(replayRounds(ctx => tools.deploy(ctx))).rejects.toThrow(MrtrError);
 * ```
 */
export class MrtrError extends Error {
  /** @param code also appended to the message */
  constructor(
    readonly code: MrtrErrorCode,
    message: string,
  ) {
    super(`${message} [${code}]`);
    this.name = 'MrtrError';
  }
}

/** Records a mistake and returns the error to throw, which is always the error of the first mistake. */
export type ReportMistake = (code: MrtrErrorCode, message: string) => MrtrError;
