import type { Outcome } from '../protocol/observation.js';
import { KNOWN_CODES, OTHER, TOOL_ERROR } from './conventions.js';

/** How a request ended, in the terms of the conventions. */
export interface Ending {
  /** `error.type`; undefined if it succeeded. */
  readonly errorType?: string;
  /** The code of the JSON-RPC error that answered it. */
  readonly statusCode?: string;
  /** The message of the JSON-RPC error, cut. Other errors have no message here. */
  readonly message?: string;
  /** Undefined for a complete result. */
  readonly resultType?: 'input_required' | 'task';
  /** The reference under which an unexpected error was logged. */
  readonly reference?: string;
}

/** Most characters of a message in a span. */
const MAX_MESSAGE = 200;

const REFERENCE = /^Internal error \(reference ([\da-f-]{36})\)$/;

const SUCCESS: Ending = {};
const INVENTED: Ending = { errorType: OTHER, statusCode: OTHER };
const INCOMPLETE = {
  input_required: { resultType: 'input_required' },
  task: { resultType: 'task' },
} as const;

export function endingOf(outcome: Outcome): Ending {
  if ('result' in outcome) return endingOfResult(outcome.result);
  const { error, aborted } = outcome;
  const rpc = rpcErrorOf(error);
  if (!aborted) return rpc ? { errorType: rpc.statusCode, ...rpc } : { errorType: nameOf(error) };
  // The server does not answer a caller that went away.
  return aborted === 'cancelled' ? { errorType: aborted } : { errorType: aborted, ...rpc };
}

/** The ending for metrics. Invented codes share one ending, so that each code does not make a new series. */
export const countedOf = (ending: Ending): Ending =>
  ending.statusCode === undefined || KNOWN_CODES.has(ending.statusCode) ? ending : INVENTED;

function endingOfResult(result: unknown): Ending {
  const { isError, resultType, content } = (result ?? {}) as Record<string, unknown>;
  if (resultType === 'input_required' || resultType === 'task') return INCOMPLETE[resultType];
  if (isError !== true) return SUCCESS;
  const text = Array.isArray(content) ? (content[0] as { text?: unknown } | undefined)?.text : undefined;
  return { errorType: TOOL_ERROR, ...(typeof text === 'string' && referenceIn(text)) };
}

function rpcErrorOf(
  error: unknown,
): (Pick<Ending, 'message' | 'reference'> & { statusCode: string }) | undefined {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (!Number.isSafeInteger(code)) return undefined;
  const text = String(message);
  return { statusCode: String(code), message: text.slice(0, MAX_MESSAGE), ...referenceIn(text) };
}

function referenceIn(text: string): Pick<Ending, 'reference'> | undefined {
  const reference = REFERENCE.exec(text)?.[1];
  return reference === undefined ? undefined : { reference };
}

const CONNECTION_ERRORS = ['connection_closed', 'connection_failed'];

/** The name of an error of the SDK's client. Its message can hold the answer of a server. */
function nameOf(error: unknown): string {
  const { code, status, data } = (error ?? {}) as { code?: unknown; status?: unknown; data?: unknown };
  if (code === 'REQUEST_TIMEOUT') {
    // The SDK uses this code for a cancellation as well.
    return (data as { timeout?: unknown } | undefined)?.timeout === undefined ? 'cancelled' : 'timeout';
  }
  if (Number.isSafeInteger(status)) return String(status);
  return CONNECTION_ERRORS.find(name => name.toUpperCase() === code) ?? OTHER;
}
