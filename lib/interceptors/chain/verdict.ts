import { messageOf } from '../../util/message-of.js';
import { MalformedResultError, readMutation, readValidation, VALID } from '../protocol/read-result.js';
import type { PreparedEntry } from './entry.js';
import { frozenCopy, thawedCopy } from './frozen.js';
import type { Invoked } from './invoke-entry.js';
import type { ChainParams } from './params.js';
import { type ChainStatus, type EntryResult, type Outcome, type Writable } from './result.js';
import { SyntheticResponse } from './synthetic-response.js';
import { isRecord } from '../../util/is-record.js';
import { diffOf } from './diff.js';

export interface VerdictInput {
  readonly entry: PreparedEntry;
  readonly payload: unknown;
}

export type VerdictDetails = Partial<EntryResult>;

export interface HaltReason {
  readonly status: Exclude<ChainStatus, 'success'>;
  readonly reason: string;
}

export interface Verdict {
  readonly outcome: Outcome;
  readonly details?: VerdictDetails;
  readonly next?: unknown;
  readonly response?: object;
  readonly halt?: HaltReason;
}

/** Has all properties: most verdicts are this object, so the code that reads verdicts sees one shape. */
const PASS: Verdict = {
  outcome: 'pass',
  details: undefined,
  next: undefined,
  response: undefined,
  halt: undefined,
};

/**
 * Interprets the return value of an interceptor by the rules of its type. An invalid value counts as a crash of the
 * interceptor.
 */
export function verdictOf(
  given: VerdictInput,
  invoked: Exclude<Invoked, { kind: 'skipped' }>,
  params: ChainParams,
): Verdict {
  const { entry } = given;
  if (invoked.kind === 'failed') return failure(entry, invoked.why, invoked.error, invoked);
  const { value } = invoked;
  if (value === VALID) return PASS;
  try {
    return entry.type === 'validation' ? validation(value, entry) : mutation(value, given, params);
  } catch (error) {
    return failure(entry, 'crash', `its result is malformed: ${messageOf(error)}`);
  }
}

/**
 * Handles a failure. An audit interceptor never blocks. `failOpen` does not apply if the time of the whole run is over.
 */
function failure(
  { type, mode, failOpen }: PreparedEntry,
  outcome: 'crash' | 'timeout',
  error: string,
  { isRunOver, isUnavailable }: { isRunOver?: boolean; isUnavailable?: boolean } = {},
): Verdict {
  const details: VerdictDetails = isUnavailable ? { error, unavailable: true } : { error };
  if (mode === 'audit') return { outcome, details };
  if (failOpen && !isRunOver) return { outcome, details: { ...details, failedOpen: true } };
  const status = isRunOver ? 'timeout' : type === 'validation' ? 'validation_failed' : 'mutation_failed';
  return { outcome, details, halt: { status, reason: error } };
}

function validation(value: unknown, { mode }: PreparedEntry): Verdict {
  const { valid, severity, messages, suggestions, info } = readValidation(value);
  const details: Writable<VerdictDetails> = { valid };
  if (severity) details.severity = severity;
  if (messages) details.messages = messages;
  // The other fields are plain values that were already read.
  if (suggestions) details.suggestions = frozenCopy(suggestions);
  if (info) details.info = frozenCopy(info);
  if (valid) return { outcome: 'pass', details };
  if (severity !== 'error') return { outcome: 'warn', details };
  if (mode === 'audit') return { outcome: 'deny', details };
  const reason = messages?.[0]?.message ?? 'the payload is invalid';
  return { outcome: 'deny', details, halt: { status: 'validation_failed', reason } };
}

/** @throws MalformedResultError if the value is not a result, or its payload does not fit the event */
function mutation(value: unknown, { entry, payload: given }: VerdictInput, params: ChainParams): Verdict {
  const { event, phase, checkPayload, simulate } = params;
  const isAudit = entry.mode === 'audit';
  if (SyntheticResponse.is(value)) {
    const response = responseOf(value, params);
    if (phase === 'request') return { outcome: 'responded', ...(!isAudit && { response }) };
    return failure(entry, 'crash', 'it answered with respondWith, which only the request phase has');
  }
  const { modified, payload, info } = readMutation(value, given);
  const details: Writable<VerdictDetails> = { modified: false };
  if (info) details.info = frozenCopy(info);
  if (!modified) return { outcome: 'unmodified', details };
  // Checks the copy that is passed on, because `toJSON` or a getter can make it differ from the author's object.
  const next = frozenCopy(payload, given);
  if (next === undefined) throw new MalformedResultError('its payload is nothing as JSON');
  const problem = checkPayload?.(next);
  if (problem !== undefined)
    throw new MalformedResultError(`its payload is not valid for ${event}: ${problem}`);
  const scope = entry.scope[phase];
  const breach = scope.breach(given, next);
  if (breach !== undefined) {
    const error = `it changed ${breach}, which its scope does not allow`;
    return scope.drops
      ? { outcome: 'dropped', details: { ...details, error } }
      : failure(entry, 'crash', error);
  }
  details.modified = true;
  details.payload = next;
  if (isAudit || simulate) details.diff = diffOf(given, next);
  return { outcome: 'mutated', details, next: isAudit ? undefined : next };
}

function responseOf({ result }: SyntheticResponse, { event, checkResponse }: ChainParams): object {
  // A mutable copy, because a handler's result is mutable, too.
  const response: unknown = thawedCopy(result);
  if (!isRecord(response)) throw new MalformedResultError('the argument of respondWith is not an object');
  const problem = checkResponse?.(response);
  if (problem === undefined) return response;
  throw new MalformedResultError(`the argument of respondWith is not an answer to ${event}: ${problem}`);
}
