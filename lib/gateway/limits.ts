import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

/** How much of a bounded resource one caller may take, so that others get some. */
export const shareOf = (max: number): number => Math.ceil(max * 0.75);

/** The error for a caller that a bound of the gateway keeps from what it asks for. */
export const tooMany = (what: string): McpException =>
  new McpException(McpErrorCode.Refused, `${what}; try again later`);

export const tooManyConnections = (): McpException => tooMany('The gateway has too many connections open');

/** The first and the longest delay before a connection or stream that ended is opened again, in milliseconds. */
export const RETRY_MS = [250, 30_000] as const;
