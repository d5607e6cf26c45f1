import { inspect } from 'node:util';
import { HttpException, Logger } from '@nestjs/common';
import { ProtocolError } from '@modelcontextprotocol/server';
import { InvalidArgumentsException } from '../exceptions/invalid-arguments.exception.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { CallCancelled } from '../exceptions/call-cancelled.js';
import { GuardDenied } from '../exceptions/guard-denied.js';

const logger = new Logger('McpModule');

/** A failure of a handler, with the part that a client may see. */
export interface Failure {
  /** The JSON-RPC error for the client. */
  readonly error: McpException;
  /**
   * Whether a tool reports the failure as a result with `isError`, which the model reads. True for failures while the
   * tool ran; false for refusals and protocol errors, which become JSON-RPC errors.
   */
  readonly asResult: boolean;
}

/**
 * Classifies an error that a handler threw. `HttpException` and `RpcException` keep their message. Other errors become
 * a safe sentence with a reference, and the log has the details under that reference.
 * @param traceId of the call, for the log
 */
export function toFailure(thrown: unknown, subject: string, traceId?: string): Failure {
  if (thrown instanceof GuardDenied)
    return { error: toFailure(thrown.cause, subject, traceId).error, asResult: false };
  if (thrown instanceof CallCancelled) {
    return { error: new McpException(McpErrorCode.Refused, thrown.message), asResult: false };
  }
  if (thrown instanceof InvalidArgumentsException) return { error: thrown, asResult: true };
  if (thrown instanceof McpException) return { error: thrown, asResult: false };
  if (thrown instanceof ProtocolError) {
    return { error: new McpException(thrown.code, thrown.message, thrown.data), asResult: false };
  }
  if (isHttpException(thrown)) return { error: fromHttp(thrown), asResult: true };
  const rpc = fromRpc(thrown);
  if (rpc) return rpc;
  return { error: unexpected(thrown, subject, traceId), asResult: true };
}

/**
 * Whether an error of `toFailure` comes from a `NotFoundException`, or is the SDK's error for a missing resource. A
 * missing and a hidden resource get the same answer.
 */
export function isNotFound(error: unknown): boolean {
  if (!(error instanceof McpException)) return false;
  const { statusCode, uri } = (error.data ?? {}) as { statusCode?: unknown; uri?: unknown };
  return statusCode === NOT_FOUND || (error.code === McpErrorCode.InvalidParams && typeof uri === 'string');
}

const NOT_FOUND = 404;

/** Logs an error in full, and returns the part that a client may see. */
export function unexpected(thrown: unknown, subject: string, traceId?: string): McpException {
  const reference = crypto.randomUUID();
  const trace = traceId === undefined ? '' : `, trace ${traceId}`;
  logger.error(`${subject} failed (reference ${reference}${trace})`, detailOf(thrown));
  return new McpException(McpErrorCode.InternalError, `Internal error (reference ${reference})`);
}

/** The stack of an error, and the stacks of up to four causes. */
function detailOf(thrown: unknown, causes = 4): string {
  if (!(thrown instanceof Error)) return inspect(thrown);
  const stack = thrown.stack ?? String(thrown);
  if (thrown.cause === undefined || causes === 0) return stack;
  return `${stack}\nCaused by: ${detailOf(thrown.cause, causes - 1)}`;
}

/** The `error` of a JSON-RPC answer. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The error for the client: protocol errors stay as they are, other errors become a reference. */
export function errorOf(thrown: unknown, method: string): JsonRpcError {
  const { code, message, data } = isProtocolError(thrown) ? thrown : unexpected(thrown, method);
  return { code, message, ...(data !== undefined && { data }) };
}

/** Whether an error reaches the client unchanged. */
export const isProtocolError = (thrown: unknown): thrown is McpException | ProtocolError =>
  thrown instanceof McpException || thrown instanceof ProtocolError;

/** Also checked by shape, because an application may use another copy of `@nestjs/common`. */
export const isHttpException = (thrown: unknown): thrown is HttpException =>
  thrown instanceof HttpException ||
  (thrown instanceof Error &&
    typeof (thrown as Partial<HttpException>).getStatus === 'function' &&
    typeof (thrown as Partial<HttpException>).getResponse === 'function');

function fromHttp(exception: HttpException): McpException {
  const statusCode = exception.getStatus();
  const code = statusCode === 400 || statusCode === 422 ? McpErrorCode.InvalidParams : McpErrorCode.Refused;
  return new McpException(statusCode >= 500 ? McpErrorCode.InternalError : code, messageOf(exception), {
    statusCode,
  });
}

/** The message of an exception, which Nest's pipes may give as a list. */
export function messageOf(exception: HttpException): string {
  const response = exception.getResponse();
  const message = typeof response === 'object' ? (response as { message?: unknown }).message : response;
  if (typeof message === 'string') return message;
  const sentences = Array.isArray(message) ? message.filter(item => typeof item === 'string') : [];
  return sentences.join('; ') || exception.message;
}

/** Checked by shape, because `@nestjs/microservices` may not be installed. */
function fromRpc(thrown: unknown): Failure | undefined {
  if (!(thrown instanceof Error) || !('getError' in thrown) || typeof thrown.getError !== 'function') return;
  const error = (thrown.getError as () => unknown)();
  if (typeof error !== 'object' || error === null) {
    return { error: new McpException(McpErrorCode.Refused, String(error)), asResult: true };
  }
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  const text = typeof message === 'string' ? message : thrown.message;
  const coded = Number.isSafeInteger(code);
  return {
    error: new McpException(coded ? (code as number) : McpErrorCode.Refused, text, data),
    asResult: !coded,
  };
}
