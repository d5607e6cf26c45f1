import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

/** Where in the lists of several backends a page begins. */
export interface Position {
  /** The backend's place among them. */
  readonly index: number;
  /** Its own cursor; none for its first page. */
  readonly cursor?: string;
}

export const encodeCursor = ({ index, cursor }: Position): string =>
  Buffer.from(JSON.stringify([index, cursor])).toString('base64url');

/** @throws McpException (-32602) for a cursor that was never given out */
export function decodeCursor(text: unknown, count: number): Position {
  if (text === undefined) return { index: 0 };
  try {
    const [index, cursor] = JSON.parse(Buffer.from(text as string, 'base64url').toString()) as unknown[];
    const isPlace = Number.isSafeInteger(index) && (index as number) >= 0 && (index as number) < count;
    if (isPlace && (typeof cursor === 'string' || cursor === null)) {
      return { index: index as number, ...(cursor !== null && { cursor }) };
    }
  } catch {
    // Said below.
  }
  throw new McpException(McpErrorCode.InvalidParams, 'Unknown cursor');
}
