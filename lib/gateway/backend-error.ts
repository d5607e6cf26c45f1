import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { loopIn } from './loop-detection.js';

const UNREACHABLE = 'The server behind this gateway cannot be reached; try again later';
const TIMED_OUT = 'The server behind this gateway did not answer in time';
const INVALID = 'The server behind this gateway gave an answer that is not valid';

/** What is said for a failure of the SDK that is not about reaching the backend. */
const SAID: Partial<Record<string, string>> = {
  [SdkErrorCode.RequestTimeout]: TIMED_OUT,
  [SdkErrorCode.InvalidResult]: INVALID,
  [SdkErrorCode.UnsupportedResultType]: INVALID,
};

/** A backend could not be reached, or not in time. */
export class BackendDownError extends McpException {}

/**
 * What a client is told of a request that a backend did not answer with a result: the backend's own error as it stands,
 * and of anything else a safe sentence.
 * @param onFailure is told the detail, for the log
 */
export function toClientError(
  thrown: unknown,
  onFailure: (thrown: unknown) => void,
  signal?: AbortSignal,
): Error {
  if (thrown instanceof McpException || thrown instanceof ProtocolError) return thrown;
  if (signal?.aborted) return new McpException(McpErrorCode.Refused, 'Cancelled');
  const known = loopIn(thrown) ?? carriedBy(thrown);
  if (known) return known;
  onFailure(thrown);
  const said = thrown instanceof SdkError ? SAID[thrown.code] : undefined;
  return said === INVALID
    ? new McpException(McpErrorCode.InternalError, said)
    : new BackendDownError(McpErrorCode.InternalError, said ?? UNREACHABLE);
}

/** Whether an HTTP answer may be of another server than the one that the connection was made with. */
export const isStranger = (thrown: unknown): boolean => {
  const { status } = (thrown ?? {}) as { status?: unknown };
  return (status === 400 || status === 404 || status === 405) && carriedBy(thrown) === undefined;
};

/**
 * Whether a request was refused with HTTP 400 before the server has worked on it: an error with the request's id is its
 * answer.
 */
export const mayBeLostSession = (thrown: unknown): boolean =>
  (thrown as Partial<{ status: unknown }>)?.status === 400 && carriedBy(thrown) === undefined;

/** A session that the server may not know any longer. The cause is what it answered. */
export class LostSession extends Error {
  /** What stands for that in the transport's revision. */
  readonly status = 404;

  constructor(override readonly cause: unknown) {
    super('The session is lost');
  }
}

/** The JSON-RPC error in the body of an HTTP answer with another status than 200. */
function carriedBy(thrown: unknown): McpException | undefined {
  const { text } = ((thrown as { data?: unknown } | undefined)?.data ?? {}) as { text?: unknown };
  if (typeof text !== 'string') return undefined;
  try {
    const { id, error } = JSON.parse(text) as { id?: unknown; error?: { code: number; message: string } };
    if (typeof id !== 'number' || !Number.isSafeInteger(error?.code)) return undefined;
    const { code, message, data } = error as { code: number; message: string; data?: unknown };
    return new McpException(code, String(message), data);
  } catch {
    return undefined;
  }
}
