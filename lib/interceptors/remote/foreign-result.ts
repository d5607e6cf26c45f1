import { isRecord } from '../../util/is-record.js';
import { readValidation } from '../protocol/read-result.js';
import { defined } from '../../util/defined.js';
import type { InvokeParams, ValidationMessage } from '../protocol/types.js';

const MAX_MESSAGES = 100;
const MAX_LENGTH = 2000;

/** @throws Error if a result says that it belongs to another interceptor or phase */
export function assertAnswers(result: unknown, asked: Pick<InvokeParams, 'name' | 'phase'>): void {
  if (!isRecord(result)) return;
  for (const told of [result, result['validation'], result['mutation']].filter(isRecord)) {
    const { interceptor, phase } = told;
    if (isTold(interceptor) && interceptor !== asked.name)
      throw new Error('its result is of another interceptor');
    if (isTold(phase) && phase !== asked.phase) throw new Error('its result is of another phase');
  }
}

export function boundedValidation(result: unknown, { name, phase }: InvokeParams): unknown {
  let read;
  try {
    // Read before it is cut: a message can decide how severe the whole is.
    read = readValidation(result, { name, phase });
  } catch {
    // The chain says what is wrong with it.
    return result;
  }
  const { messages = [], suggestions = [] } = read;
  if (messages.length <= MAX_MESSAGES && suggestions.length <= MAX_MESSAGES && messages.every(isShort)) {
    return result;
  }
  return {
    ...read,
    messages: messages.slice(0, MAX_MESSAGES).map(cut),
    suggestions: suggestions.slice(0, MAX_MESSAGES),
  };
}

const isShort = ({ path = '', message }: ValidationMessage): boolean =>
  Math.max(path.length, message.length) <= MAX_LENGTH;

const cut = ({ path, message, severity }: ValidationMessage): ValidationMessage =>
  defined({ path: path && cutText(path), message: cutText(message), severity });

const cutText = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

/** The Go SDK writes what nobody set as an empty string. */
const isTold = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
