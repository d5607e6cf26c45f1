import type {
  MutationResult,
  Phase,
  Severity,
  SinkResult,
  ValidationMessage,
  ValidationResult,
} from './types.js';

/** A result that is none: a failure of the interceptor that gave it. */
export class MalformedResultError extends Error {}

type Json = Readonly<Record<string, unknown>>;

interface Source {
  readonly name: string;
  readonly phase: Phase;
}

const RANK: Readonly<Record<Severity, number>> = { info: 0, warn: 1, error: 2 };

/**
 * Reads a validator's result, which another implementation may have nested under `validation`.
 * @throws MalformedResultError where it does not say whether the payload is valid
 */
export function readValidation(value: unknown, { name, phase }: Source): ValidationResult {
  const result = unwrap(value, 'validation');
  const { valid, suggestions } = result;
  if (typeof valid !== 'boolean') throw new MalformedResultError('"valid" is no boolean');
  const messages = readMessages(result['messages']);
  const severity = isSeverity(result['severity']) ? result['severity'] : highest(messages);
  return {
    ...common(result, name, phase),
    type: 'validation',
    valid,
    ...(!valid && { severity: severity ?? 'error' }),
    ...(messages.length > 0 && { messages }),
    ...(Array.isArray(suggestions) && { suggestions: suggestions as ValidationResult['suggestions'] }),
  };
}

/**
 * Reads a mutator's result, which another implementation may have nested under `mutation`.
 * @throws MalformedResultError where it does not say whether, and to what, it changed the payload
 */
export function readMutation(value: unknown, { name, phase }: Source, received: unknown): MutationResult {
  const result = unwrap(value, 'mutation');
  const { modified } = result;
  if (typeof modified !== 'boolean') throw new MalformedResultError('"modified" is no boolean');
  if (!modified) return { ...common(result, name, phase), type: 'mutation', modified, payload: received };
  if (result['payload'] === undefined) throw new MalformedResultError('"payload" is missing');
  return { ...common(result, name, phase), type: 'mutation', modified, payload: result['payload'] };
}

/** Reads a sink's result; one that says nothing has recorded. */
export function readSink(value: unknown, { name, phase }: Source): SinkResult {
  const result = isJson(value) ? unwrap(value, 'sink') : {};
  const { metrics } = result;
  return {
    ...common(result, name, phase),
    type: 'sink',
    recorded: result['recorded'] !== false,
    ...(isJson(metrics) && { metrics: metrics as SinkResult['metrics'] }),
  };
}

function unwrap(value: unknown, nested: string): Json {
  if (!isJson(value)) throw new MalformedResultError('the result is no object');
  const inner = value[nested];
  return isJson(inner) ? inner : value;
}

const common = ({ info }: Json, interceptor: string, phase: Phase) => ({
  interceptor,
  phase,
  ...(isJson(info) && { info }),
});

function readMessages(value: unknown): ValidationMessage[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJson).flatMap(({ path, message, severity }) =>
    typeof message === 'string'
      ? [
          {
            ...(typeof path === 'string' && { path }),
            message,
            severity: isSeverity(severity) ? severity : ('error' as const),
          },
        ]
      : [],
  );
}

const highest = (messages: readonly ValidationMessage[]): Severity | undefined =>
  messages.reduce<Severity | undefined>(
    (worst, { severity }) => (worst === undefined || RANK[severity] > RANK[worst] ? severity : worst),
    undefined,
  );

const isSeverity = (value: unknown): value is Severity =>
  value === 'info' || value === 'warn' || value === 'error';

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
