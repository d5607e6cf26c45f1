import { branded } from './branded.js';
import type { SchemaIssue } from '../schema/types.js';
import { McpErrorCode, McpException } from './mcp.exception.js';

/**
 * Arguments that do not match the handler's input schema. The message names every path.
 * @example
 * ```ts
 * throw new InvalidArgumentsException('tool "search"', [{ path: 'limit', message: 'must be at most 50' }]);
 * ```
 */
export class InvalidArgumentsException extends McpException {
  static {
    branded(this, 'InvalidArgumentsException');
  }

  /**
   * @param subject the called handler, such as `tool "search"`
   * @param issues one entry per violation; `path` is empty for the arguments as a whole
   */
  constructor(
    subject: string,
    readonly issues: readonly SchemaIssue[],
  ) {
    const list = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
    super(McpErrorCode.InvalidParams, `Invalid arguments for ${subject}: ${list}`);
  }
}
