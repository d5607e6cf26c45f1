/** What is wrong with the way in which a handler asks. */
export type MrtrErrorCode =
  | 'MRTR_ASK_IN_STEP'
  | 'MRTR_ASK_NOT_AWAITED'
  | 'MRTR_ASK_AFTER_RETURN'
  | 'MRTR_ASK_SWALLOWED'
  | 'MRTR_DUPLICATE_KEY'
  | 'MRTR_INVALID_KEY'
  | 'MRTR_INVALID_QUESTION'
  | 'MRTR_KIND_CHANGED'
  | 'MRTR_QUESTION_CHANGED'
  | 'MRTR_RACE'
  | 'MRTR_STEP_RESULT'
  | 'MRTR_TOO_MANY_ROUNDS';

/** A mistake of a handler in how it asks its client. Its message is for the author; clients only learn that it failed. */
export class MrtrError extends Error {
  /**
   * @param code which mistake it is; it stands at the end of the message, too
   * @param message what happened, and how to mend it
   */
  constructor(
    readonly code: MrtrErrorCode,
    message: string,
  ) {
    super(`${message} [${code}]`);
    this.name = 'MrtrError';
  }
}

/** Notes a mistake of a handler, and gives the error to throw for it: always that of the first. */
export type ReportMistake = (code: MrtrErrorCode, message: string) => MrtrError;
