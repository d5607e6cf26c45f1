import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import { defined } from '../../util/defined.js';
import type { ChainResult, EntryResult } from '../chain/result.js';

const TIMEOUT = -32000;

const FAILED = 'Interceptor execution failed';
const TIMED_OUT = 'Interceptor execution timeout';

/** The JSON-RPC error for a refused message. It never holds a payload or the error of an interceptor. */
export function denialOf(
  { status, results, abortedAt, phase }: ChainResult,
  timeoutMs?: number,
): McpException {
  const interceptor = abortedAt?.interceptor;
  if (status === 'timeout') {
    return new McpException(TIMEOUT, TIMED_OUT, defined({ interceptor, timeoutMs, phase }));
  }
  if (status === 'mutation_failed') {
    return new McpException(McpErrorCode.InternalError, 'Interceptor mutation failed', {
      failedInterceptor: interceptor,
    });
  }
  const validationErrors = results.filter(isBlocking).flatMap(errorsOf);
  return new McpException(McpErrorCode.InvalidParams, 'Interceptor validation failed', { validationErrors });
}

/** The answer if the hosts could not be listed. */
export const undiscovered = (): McpException =>
  new McpException(McpErrorCode.InternalError, FAILED, { reason: 'the interceptors could not be listed' });

/** The answer if a mutator changed a resource of `subscriptions/listen`. */
export const unchangeable = (): McpException =>
  new McpException(McpErrorCode.InternalError, 'Interceptor mutation failed', {
    reason: 'the resource of a subscriptions/listen cannot be changed',
  });

const isBlocking = ({ type, mode, outcome, failedOpen }: EntryResult): boolean =>
  type === 'validation' &&
  mode !== 'audit' &&
  failedOpen !== true &&
  (outcome === 'deny' || outcome === 'crash' || outcome === 'timeout');

function errorsOf({ interceptor, outcome, severity = 'error', messages = [] }: EntryResult): object[] {
  if (outcome !== 'deny') {
    return [{ interceptor, severity: 'error', message: outcome === 'timeout' ? TIMED_OUT : FAILED }];
  }
  if (messages.length === 0) return [{ interceptor, severity, message: `Refused by ${interceptor}` }];
  return messages.map(one =>
    defined({ interceptor, severity: one.severity, message: one.message, path: one.path }),
  );
}

export class Refused extends Error {
  constructor(readonly denial: McpException) {
    super(denial.message);
  }
}
