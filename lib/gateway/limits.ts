import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

/** How much of a bounded resource one caller may take. */
export const shareOf = (max: number): number => Math.ceil(max * 0.75);

export const tooMany = (what: string): McpException =>
  new McpException(McpErrorCode.Refused, `${what}; try again later`);

export const tooManyConnections = (): McpException => tooMany('The gateway has too many connections open');

/** The first and the longest delay before an ended connection or stream is opened again, in milliseconds. */
export const RETRY_MS = [250, 30_000] as const;
