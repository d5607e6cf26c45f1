import { McpErrorCode, McpException } from './mcp.exception.js';

/**
 * A refusal because of the token. Over HTTP it sets the status of the answer, and its headers tell the client how to
 * log in (2026-07-28: basic/authorization).
 */
export class AuthChallenge extends McpException {
  /** @param headers of the answer, such as `www-authenticate` */
  constructor(
    readonly status: 400 | 401 | 403 | 429 | 503,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(McpErrorCode.Refused, message, { statusCode: status });
  }
}
