import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { type JsonRpcError, unexpected } from '../protocol/errors.js';
import { LimitReached } from '../protocol/caller-limit.js';
import { retryAfterOf } from '../connection/transient.js';
import { logLine } from '../util/log-line.js';
import { loopIn } from './loop-detection.js';

const UNREACHABLE = 'The server behind this gateway cannot be reached; try again later';
const TIMED_OUT = 'The server behind this gateway did not answer in time';
const BUSY = 'The server behind this gateway is busy; try again later';
const INVALID = 'The server behind this gateway gave an answer that is not valid';

export class BackendDownError extends McpException {}

/** The error for an answer of a backend that the protocol does not allow. */
export const invalidAnswer = (): McpException => new McpException(McpErrorCode.InternalError, INVALID);

/** The client gets the backend's own error, or a safe sentence; `onFailure` gets the detail. */
export function toClientError(
  thrown: unknown,
  onFailure: (thrown: unknown) => void,
  signal?: AbortSignal,
): Error {
  if (thrown instanceof McpException || thrown instanceof ProtocolError) return thrown;
  if (signal?.aborted) return new McpException(McpErrorCode.Refused, 'Cancelled');
  const known = loopIn(thrown) ?? busyBy(thrown) ?? carriedBy(thrown);
  if (known) return known;
  onFailure(thrown);
  const code = thrown instanceof SdkError ? thrown.code : undefined;
  if (code === SdkErrorCode.InvalidResult || code === SdkErrorCode.UnsupportedResultType) {
    return invalidAnswer();
  }
  const isLate = code === SdkErrorCode.RequestTimeout;
  return new BackendDownError(McpErrorCode.InternalError, isLate ? TIMED_OUT : UNREACHABLE);
}

/** The most characters of a backend's error in the log. */
const MAX_LOGGED = 2000;

/** The protocol errors of JSON-RPC and MCP that describe the request. */
const PROTOCOL_CODES: ReadonlySet<number> = new Set([
  ProtocolErrorCode.ParseError,
  ProtocolErrorCode.InvalidRequest,
  ProtocolErrorCode.MethodNotFound,
  ProtocolErrorCode.InvalidParams,
  ProtocolErrorCode.MissingRequiredClientCapability,
  ProtocolErrorCode.UnsupportedProtocolVersion,
  ProtocolErrorCode.UrlElicitationRequired,
  McpErrorCode.HeaderMismatch,
]);

/**
 * Keeps what a backend tells of its inside from callers. Protocol errors keep their text, and their data without stacks; a
 * missing resource has one text. Of other errors, only the code stays: the text becomes a reference, under which the log has text and data.
 */
export function withoutDetail(error: Error, backend: string): Error {
  if (!(error instanceof ProtocolError)) return error;
  const { code, message, data } = error;
  if (error instanceof ResourceNotFoundError) return new ResourceNotFoundError(error.uri);
  if (PROTOCOL_CODES.has(code)) return ProtocolError.fromError(code, message, withoutStacks(data));
  const loop = loopIn(error);
  if (loop) return loop;
  // A server of this package has already replaced its text.
  if (REFERENCE.test(message) && data === undefined) return error;
  const logged = new Error(logLine(message.slice(0, MAX_LOGGED)), { cause: data });
  return new McpException(code, unexpected(logged, `The backend "${backend}"`).message);
}

const withoutStacks = (data: unknown): unknown =>
  data === undefined
    ? undefined
    : JSON.parse(JSON.stringify(data), (key, value: unknown) => (key === 'stack' ? undefined : value));

const REFERENCE = /^Internal error( \(reference [\da-f-]{36}\))?$/;

/** Whether the HTTP answer may come from another server than the connected server. */
export const isOtherServer = (thrown: unknown): boolean => isHttpRefusal(thrown, 400, 404, 405);

/** Whether the server may have refused the request because it does not know the session. */
export const mayBeLostSession = (thrown: unknown): boolean => isHttpRefusal(thrown, 400);

/** Whether the server refused the request with one of these statuses before it worked on it. */
function isHttpRefusal(thrown: unknown, ...statuses: unknown[]): boolean {
  return statuses.includes((thrown as { status?: unknown } | undefined)?.status) && !carriedBy(thrown);
}

export class LostSession extends Error {
  /** The status that the specification has for a lost session. */
  readonly status = 404;

  constructor(override readonly cause: unknown) {
    super('The session is lost');
  }
}

/** The refusal of a server that takes no more requests now. The client gets the status, too, so that it tries again. */
function busyBy(thrown: unknown): LimitReached | undefined {
  const { status } = (thrown ?? {}) as { status?: unknown };
  if ((status !== 429 && status !== 503) || !carriedBy(thrown)) return undefined;
  return new LimitReached(status, BUSY, Math.max(1, Math.ceil(retryAfterOf(thrown) / 1000)));
}

/** The JSON-RPC error in the body of an HTTP error: the server has worked on the request. */
function carriedBy(thrown: unknown): ProtocolError | undefined {
  try {
    const { data: body } = thrown as { data: { text: string } };
    const { id, error } = JSON.parse(body.text) as { id?: unknown; error: JsonRpcError };
    if (typeof id !== 'number' || !Number.isSafeInteger(error.code)) return undefined;
    return new ProtocolError(error.code, String(error.message), error.data);
  } catch {
    return undefined;
  }
}
