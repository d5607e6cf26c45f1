import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { ItemKind } from './methods.js';
import { shorten } from './params.js';

/** The error for a tool that does not exist, or that the caller may not see. */
export const unknownTool = (name: string): McpException =>
  new McpException(McpErrorCode.InvalidParams, `Unknown tool: ${shorten(name)}`);

/** The error for a prompt that does not exist, or that the caller may not see. */
export const unknownPrompt = (name: string): McpException =>
  new McpException(McpErrorCode.InvalidParams, `Unknown prompt: ${shorten(name)}`);

/** The error for an item that does not exist, or that the caller may not see. */
export function unknownItem(kind: ItemKind, id: string): Error {
  if (kind === 'tool') return unknownTool(id);
  return kind === 'prompt' ? unknownPrompt(id) : new ResourceNotFoundError(id);
}

/** The server does not have the method, as far as the caller may know. */
export class UnknownMethodError extends McpException {
  constructor() {
    super(McpErrorCode.MethodNotFound, 'Method not found');
  }
}
