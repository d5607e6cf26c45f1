import { isRecord } from '../../util/is-record.js';
import { defined } from '../../util/defined.js';
import type { MutationResult, Severity, SinkResult, ValidationMessage, ValidationResult } from './types.js';

export class MalformedResultError extends Error {}

/** The result of a validator without objections. It is the most common result, so it is shared and not read again. */
export const VALID = Object.freeze({ valid: true });

type Json = Readonly<Record<string, unknown>>;

/** A result without what its asker knows: the interceptor, its type and the phase. */
type Read<T extends ValidationResult | MutationResult | SinkResult> = Omit<
  T,
  'interceptor' | 'type' | 'phase'
>;

const RANK: Readonly<Record<Severity, number>> = { info: 0, warn: 1, error: 2 };

/** @throws MalformedResultError without a boolean `valid` */
export function readValidation(value: unknown): Read<ValidationResult> {
  const result = unwrap(value, 'valid', 'validation');
  const { valid } = result;
  if (typeof valid !== 'boolean') throw new MalformedResultError('"valid" is not a boolean');
  const messages = readMessages(result['messages']);
  const suggestions = readSuggestions(result['suggestions']);
  return {
    valid,
    ...infoOf(result),
    ...(!valid && { severity: severityOf(result) }),
    ...(messages.length > 0 && { messages }),
    ...(suggestions.length > 0 && { suggestions }),
  };
}

/** @throws MalformedResultError without a boolean `modified`, or without the new payload */
export function readMutation(value: unknown, received: unknown): Read<MutationResult> {
  const result = unwrap(value, 'modified', 'mutation');
  const { modified } = result;
  if (typeof modified !== 'boolean') throw new MalformedResultError('"modified" is not a boolean');
  const payload = modified ? result['payload'] : received;
  if (modified && payload === undefined) throw new MalformedResultError('"payload" is missing');
  return { modified, payload, ...infoOf(result) };
}

export function readSink(value: unknown): Read<SinkResult> {
  const result = isRecord(value) ? unwrap(value, 'recorded', 'sink') : {};
  const { metrics } = result;
  return {
    recorded: result['recorded'] !== false,
    ...infoOf(result),
    ...(isRecord(metrics) && { metrics: readMetrics(metrics) }),
  };
}

/** Prefers the newer, flat form. Fields that a nested result lacks may stand beside it. */
function unwrap(value: unknown, told: string, nested: string): Json {
  if (!isRecord(value)) {
    throw new MalformedResultError(
      value === undefined ? 'it returned nothing' : 'the result is not an object',
    );
  }
  if (value[told] !== undefined) return value;
  const inner = value[nested];
  return isRecord(inner) ? { ...value, ...inner } : value;
}

const infoOf = ({ info }: Json) => isRecord(info) && { info };

function readMessages(value: unknown): ValidationMessage[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap(({ path: given, message, severity: said }) => {
    const path = typeof given === 'string' ? given : undefined;
    const severity = isSeverity(said) ? said : 'error';
    return typeof message === 'string' ? [defined({ path, message, severity })] : [];
  });
}

function readSuggestions(value: unknown): NonNullable<ValidationResult['suggestions']> {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isRecord)
    .flatMap(({ path, value: better }) => (typeof path === 'string' ? [{ path, value: better }] : []));
}

const readMetrics = (metrics: Json): Record<string, number> =>
  Object.fromEntries(
    Object.entries(metrics).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );

/**
 * The result's own severity, otherwise the highest severity of its messages. An invalid severity counts as an error.
 */
function severityOf({ severity, messages }: Json): Severity {
  if (severity !== undefined && severity !== null) return isSeverity(severity) ? severity : 'error';
  if (!Array.isArray(messages) || messages.length === 0) return 'error';
  return messages
    .map(message => (isRecord(message) && isSeverity(message['severity']) ? message['severity'] : 'error'))
    .reduce((worst, one) => (RANK[one] > RANK[worst] ? one : worst));
}

const isSeverity = (value: unknown): value is Severity =>
  value === 'info' || value === 'warn' || value === 'error';
