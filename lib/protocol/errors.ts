import { inspect } from 'node:util';
import { HttpException, Logger } from '@nestjs/common';
import { ProtocolError } from '@modelcontextprotocol/server';
import { InvalidArgumentsException } from '../exceptions/invalid-arguments.exception.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { CallCancelled } from '../exceptions/call-cancelled.js';
import { GuardDenied } from '../exceptions/guard-denied.js';

const logger = new Logger('McpModule');

/** A failure of a handler, sorted by who may know what. */
export interface Failure {
  /** The JSON-RPC error that a client gets for it. */
  readonly error: McpException;
  /**
   * Whether a tool reports it as a result with `isError`, for the model to read, rather than as a JSON-RPC error:
   * true for anything that went wrong while the tool ran, false for refusals and for protocol errors.
   */
  readonly asResult: boolean;
}

/**
 * Sorts what a handler threw. `HttpException` and `RpcException` keep their message; anything unexpected becomes a
 * safe sentence with a reference, and is logged in full under that reference.
 */
export function toFailure(thrown: unknown, subject: string): Failure {
  if (thrown instanceof GuardDenied)
    return { error: toFailure(thrown.cause, subject).error, asResult: false };
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
  return { error: unexpected(thrown, subject), asResult: true };
}

/**
 * Whether an error of `toFailure` is a `NotFoundException`, or the SDK's error for a resource that does not exist. What is
 * missing, and what a guard hides, has one answer.
 */
export function isNotFound(error: unknown): boolean {
  if (!(error instanceof McpException)) return false;
  const { statusCode, uri } = (error.data ?? {}) as { statusCode?: unknown; uri?: unknown };
  return statusCode === NOT_FOUND || (error.code === McpErrorCode.InvalidParams && typeof uri === 'string');
}

const NOT_FOUND = 404;

/** Logs an error in full and gives what a client may know of it. */
export function unexpected(thrown: unknown, subject: string): McpException {
  const reference = crypto.randomUUID();
  logger.error(`${subject} failed (reference ${reference})`, detailOf(thrown));
  return new McpException(McpErrorCode.InternalError, `Internal error (reference ${reference})`);
}

/** The stack, and those of up to four causes. */
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

/** What a client is told of something thrown: an error that is meant for it as it stands, any other as a reference. */
export function errorOf(thrown: unknown, method: string): JsonRpcError {
  const { code, message, data } = isProtocolError(thrown) ? thrown : unexpected(thrown, method);
  return { code, message, ...(data !== undefined && { data }) };
}

/** Errors that are meant for the client as they stand. */
export const isProtocolError = (thrown: unknown): thrown is McpException | ProtocolError =>
  thrown instanceof McpException || thrown instanceof ProtocolError;

/** By shape as well: an application may hold another copy of `@nestjs/common`. */
const isHttpException = (thrown: unknown): thrown is HttpException =>
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

function messageOf(exception: HttpException): string {
  const response = exception.getResponse();
  const message = typeof response === 'object' ? (response as { message?: unknown }).message : response;
  if (typeof message === 'string') return message;
  const sentences = Array.isArray(message) ? message.filter(item => typeof item === 'string') : [];
  return sentences.join('; ') || exception.message;
}

/** `RpcException` by its shape, because `@nestjs/microservices` need not be installed. */
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
