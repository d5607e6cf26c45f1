import { isRecord } from '../../util/is-record.js';
import { MalformedResultError, readMutation } from '../protocol/read-result.js';
import type { MutationResult } from '../protocol/types.js';
import { diffOf } from './diff.js';
import type { PreparedEntry } from './entry.js';
import { frozenCopy, thawedCopy } from './frozen.js';
import type { ChainParams } from './params.js';
import type { EntryResult } from './result.js';
import { SyntheticResponse } from './synthetic.js';

export interface Mutation {
  readonly response?: object;
  readonly info?: MutationResult['info'];
  readonly next?: unknown;
  readonly breach?: string;
  readonly diff?: EntryResult['diff'];
}

/** @throws MalformedResultError if the value is not a result, or its payload does not fit the event */
export function mutationOf(
  value: unknown,
  entry: PreparedEntry,
  given: unknown,
  { event, phase, checkPayload, checkResponse, simulate }: ChainParams,
): Mutation {
  if (SyntheticResponse.is(value)) {
    // A copy that can be changed, as a handler's result can.
    const response: unknown = thawedCopy(value.result);
    if (!isRecord(response)) throw new MalformedResultError('what it answered with respondWith is no object');
    const problem = checkResponse?.(response);
    if (problem === undefined) return { response };
    throw new MalformedResultError(`what it answered with respondWith is no answer to ${event}: ${problem}`);
  }
  const { modified, payload, info: told } = readMutation(value, { name: entry.name, phase }, given);
  const info = told && frozenCopy(told);
  if (!modified) return { info };
  // What goes on is checked, not what the author holds: the two differ by a `toJSON` or a getter.
  const next = frozenCopy(payload, given);
  if (next === undefined) throw new MalformedResultError('its payload is nothing as JSON');
  const problem = checkPayload?.(next);
  if (problem !== undefined) throw new MalformedResultError(`its payload is none for ${event}: ${problem}`);
  const isShown = entry.mode === 'audit' || simulate;
  return {
    info,
    next,
    breach: entry.scope[phase].breach(given, next),
    ...(isShown && { diff: diffOf(given, next) }),
  };
}
