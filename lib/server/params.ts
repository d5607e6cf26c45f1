import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

type Params = Readonly<Record<string, unknown>>;

/** @throws McpException (-32602) where the member is missing or no string */
export function requireString(params: Params, member: string): string {
  const value = params[member];
  if (typeof value !== 'string') {
    throw new McpException(McpErrorCode.InvalidParams, `Invalid params: "${member}" must be a string`);
  }
  return value;
}

/** @throws McpException (-32602) where the value is no object */
export function asObject(value: unknown, member: string): Params {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new McpException(McpErrorCode.InvalidParams, `Invalid params: "${member}" must be an object`);
  }
  return value as Params;
}

/** What a client sent, as far as an error message repeats it. */
export const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
