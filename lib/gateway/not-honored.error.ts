import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

/** The backend does not report changes of a resource. Other resources of the same request are still admitted. */
export class NotHonoredError extends McpException {
  constructor(uri: string) {
    super(
      McpErrorCode.Refused,
      `The server behind this gateway does not report changes of ${uri.slice(0, 200)}`,
    );
  }
}
