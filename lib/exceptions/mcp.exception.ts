/**
 * The JSON-RPC error codes that this module answers with by itself.
 * @example
 * ```ts
 * throw new McpException(McpErrorCode.InvalidParams, 'There is no such order');
 * ```
 */
export const McpErrorCode = {
  /** What was sent is no request of the protocol, or cannot be taken now, as where its id is in use. */
  InvalidRequest: -32600,
  /** There is no such method, or the server does not offer it. */
  MethodNotFound: -32601,
  /** Nothing has that name, arguments that the schema does not admit, or a `requestState` that is not good here. */
  InvalidParams: -32602,
  /** The server failed; its log says how. */
  InternalError: -32603,
  /** A refusal that JSON-RPC has no code for; `data.statusCode` holds the HTTP status that fits. */
  Refused: -32000,
  /** Headers that do not say what the body does, with HTTP 400 (2026-07-28). */
  HeaderMismatch: -32020,
} as const;

/**
 * An error that reaches the client as it stands: `code`, `message` and `data` become the JSON-RPC error.
 * Throw it from a handler, a guard or a pipe to answer with a protocol error of your own.
 * @example
 * ```ts
 * throw new McpException(McpErrorCode.Refused, 'The shop is closed', { opensAt: '08:00' });
 * ```
 */
export class McpException extends Error {
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
