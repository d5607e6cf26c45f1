import { SdkErrorCode } from '@modelcontextprotocol/server';

const TRANSIENT: readonly unknown[] = [
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.RequestTimeout,
  SdkErrorCode.SendFailed,
];

/** The codes of Node and of its `fetch` for a connection that failed, such as `ECONNREFUSED`. */
const OF_NETWORK = /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/;

/** Whether a later request may succeed: the connection failed, or the server was busy. */
export function isTransient(error: unknown): boolean {
  // Not by `instanceof`: `fetch` may throw errors of another realm.
  const { status, code, cause } = (error ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof status === 'number') return status === 408 || status === 429 || status >= 500;
  if (TRANSIENT.includes(code) || (typeof code === 'string' && OF_NETWORK.test(code))) return true;
  return cause !== undefined && isTransient(cause);
}

const RETRY_AFTER = Symbol('nestjs-mcp:retry-after');

/** The longest delay that a server may ask for, in milliseconds. */
const MAX_MS = 60_000;

/** Keeps the header `Retry-After` of the response with the error that stands for the response. */
export function withRetryAfter<E extends Error>(error: E, header: string | null = null): E {
  if (header === null) return error;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return ms > 0 ? Object.assign(error, { [RETRY_AFTER]: Math.min(ms, MAX_MS) }) : error;
}

/** How long the server has asked the client to wait, in milliseconds. */
export const retryAfterOf = (error: unknown): number =>
  (error as { [RETRY_AFTER]?: number })[RETRY_AFTER] ?? 0;
