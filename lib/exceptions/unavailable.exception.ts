import { branded } from './branded.js';
import { McpErrorCode, McpException } from './mcp.exception.js';

/** A call needs a store that cannot be reached now. The status of a 2026-07-28 answer is 503 if no handler has run. */
export class UnavailableException extends McpException {
  static {
    branded(this, 'UnavailableException');
  }

  /** @param cause only for the log; the client does not see it. @param hasRun whether the handler has run */
  constructor(
    override readonly cause?: unknown,
    readonly hasRun = false,
  ) {
    super(McpErrorCode.Refused, 'The server cannot reach a store that this call needs. Try again later.', {
      statusCode: 503,
    });
  }
}
