import { branded } from './branded.js';

/**
 * The JSON-RPC error codes that this module itself answers with.
 * @example
 * ```ts
 * throw new McpException(McpErrorCode.InvalidParams, 'The order does not exist');
 * ```
 */
export const McpErrorCode = {
  /** The message is not a valid request, or the server cannot accept it now, for example because its id is in use. */
  InvalidRequest: -32600,
  /** The method does not exist, or the server does not offer it. */
  MethodNotFound: -32601,
  /** An unknown name, arguments that the schema refuses, or a `requestState` that this server does not accept. */
  InvalidParams: -32602,
  /** The server failed; its log has the details. */
  InternalError: -32603,
  /** A refusal without a JSON-RPC code; `data.statusCode` holds the matching HTTP status. */
  Refused: -32000,
  /** Headers differ from the body, with HTTP 400 (2026-07-28). */
  HeaderMismatch: -32020,
} as const;

/**
 * An error that reaches the client unchanged: `code`, `message` and `data` become the JSON-RPC error. Throw it from a
 * handler, a guard or a pipe to answer with your own protocol error.
 * @example
 * ```ts
 * throw new McpException(McpErrorCode.Refused, 'The shop is closed', { opensAt: '08:00' });
 * ```
 */
export class McpException extends Error {
  static {
    branded(this, 'McpException');
  }

  /**
   * @param code JSON-RPC error code, an integer
   * @param message one sentence, safe to show to the client
   * @param data optional JSON value for the error's `data`
   */
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = new.target.name;
  }
}
