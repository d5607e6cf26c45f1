import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { shorten } from './params.js';

/** The answer to a call of a tool that does not exist, or that the caller may not see. */
export const unknownTool = (name: string): McpException =>
  new McpException(McpErrorCode.InvalidParams, `Unknown tool: ${shorten(name)}`);

/** The answer to a request for a prompt that does not exist, or that the caller may not see. */
export const unknownPrompt = (name: string): McpException =>
  new McpException(McpErrorCode.InvalidParams, `Unknown prompt: ${shorten(name)}`);
