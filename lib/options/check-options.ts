import { isRecord } from '../util/is-record.js';
import type { ObjectSchema, OptionSchema } from './option-schema.js';

export interface OptionProblem {
  /** The keys and indexes that lead to the option. */
  readonly steps: readonly string[];
  readonly value: unknown;
  /** For example `must be true or false`. */
  readonly rule: string;
  /** The allowed options, if the option is unknown. */
  readonly known?: readonly string[];
  /** Replaces the other parts if a rule has its own sentence. */
  readonly sentence?: string;
}

/**
 * Checks options and fills in defaults. Values that are not option objects stay the same objects.
 * @param fail creates the error from the sentence
 */
export function resolve<T extends object, F extends object>(
  schema: ObjectSchema<T, F>,
  options: T,
  fail: (sentence: string, problem: OptionProblem) => Error,
): F {
  const problem = problemOf(schema, options);
  if (problem) throw fail(sentenceOf(problem, schema.title), problem);
  return filled(schema, options) as F;
}

export function problemOf(
  schema: OptionSchema,
  value: unknown,
  steps: readonly string[] = [],
): OptionProblem | undefined {
  const problem = (): OptionProblem => ({ steps, value, rule: ruleOf(schema, value) });
  if (schema.anyOf) {
    const fitting = schema.anyOf.find(one => isOfKind(one, value));
    const inner = fitting ? problemOf(fitting, value, steps) : problem();
    return inner && inner.steps.length === steps.length && !inner.sentence ? problem() : inner;
  }
  if (!isOfKind(schema, value) || !isWithin(schema, value)) return problem();
  const inner = problemWithin(schema, value, steps);
  if (inner) return inner;
  if (schema.accepts?.(value as never) === false) return problem();
  const name = (key?: string) => nameOf(key === undefined ? steps : [...steps, key]);
  const sentence = schema.problem?.(value as never, name);
  return sentence === undefined ? undefined : { ...problem(), sentence };
}

function problemWithin(
  { items, properties, required, additionalProperties }: OptionSchema,
  value: unknown,
  steps: readonly string[],
): OptionProblem | undefined {
  if (items && Array.isArray(value)) {
    return first(value.entries(), ([index, item]) => problemOf(items, item, [...steps, String(index)]));
  }
  if (!isRecord(value) || !(properties || additionalProperties)) return undefined;
  const known = Object.keys(properties ?? {});
  const others = Object.keys(value).filter(key => !known.includes(key));
  if (!additionalProperties && others.length > 0) {
    const rule = `is unknown; allowed are ${known.join(', ')}`;
    return { steps: [...steps, others[0]], value: value[others[0]], rule, known };
  }
  const check = (schema: OptionSchema, key: string) =>
    value[key] === undefined && !required?.includes(key)
      ? undefined
      : problemOf(schema, value[key], [...steps, key]);
  return (
    first(Object.entries(properties ?? {}), ([key, schema]) => check(schema, key)) ??
    first(others, key => check(additionalProperties!, key))
  );
}

function first<T, P>(values: Iterable<T>, find: (value: T) => P | undefined): P | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isOfKind({ type, enum: values, instanceOf }: OptionSchema, value: unknown): boolean {
  if (values) return values.includes(value);
  if (instanceOf) return value instanceof instanceOf;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return Number.isFinite(value);
  return type === undefined || typeof value === type;
}

function isWithin(schema: OptionSchema, value: unknown): boolean {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, pattern, minItems = 0 } = schema;
  if (typeof value === 'number') return value >= minimum && value <= maximum;
  if (Array.isArray(value)) return value.length >= minItems;
  if (typeof value !== 'string') return true;
  return value.trim().length >= minLength && (pattern === undefined || new RegExp(pattern).test(value));
}

function ruleOf(schema: OptionSchema, value: unknown): string {
  const isShown = (schema.enum ?? schema.pattern) !== undefined && /^(string|number)$/.test(typeof value);
  return `must be ${describe(schema)}${isShown ? `, not ${JSON.stringify(value)}` : ''}`;
}

/** The words that complete "must be". */
export function describe(schema: OptionSchema): string {
  if (schema.description !== undefined) return schema.description;
  const { enum: values, properties, minItems = 0 } = schema;
  if (values)
    return listed(
      values.map(value => JSON.stringify(value)),
      'or',
    );
  if (properties) return `an object with ${listed(Object.keys(properties), 'and')}`;
  switch (schema.type) {
    case 'boolean':
      return 'true or false';
    case 'string':
      return schema.minLength === undefined ? 'a string' : 'a non-empty string';
    case 'array':
      return minItems > 0 ? 'a list with at least one' : 'a list';
    case 'integer':
      return `a whole number${rangeOf(schema)}`;
    case 'number':
      return `a number${rangeOf(schema)}`;
    case 'function':
      return 'a function';
    default:
      return 'an object';
  }
}

function rangeOf({ type, minimum, maximum }: OptionSchema): string {
  if (minimum === undefined) return '';
  if (type === 'integer' && minimum === 1) {
    return maximum === undefined ? ' above 0' : ` above 0, up to ${maximum}`;
  }
  return maximum === undefined ? `, ${minimum} or more` : ` from ${minimum} to ${maximum}`;
}

function listed(words: readonly string[], last: string): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

export function sentenceOf({ steps, rule, known, sentence }: OptionProblem, title?: string): string {
  if (sentence !== undefined) return sentence;
  if (known) return `unknown option ${nameOf(steps)}; known are ${known.join(', ')}`;
  return `${nameOf(steps, title)} ${rule}`;
}

const nameOf = (steps: readonly string[], whole = 'it'): string =>
  steps.length === 0 ? whole : `"${pathOf(steps)}"`;

/** For example `overrides.redact.hooks[0].phase`. */
export const pathOf = (steps: readonly string[]): string => steps.map(stepOf).join('').replace(/^\./, '');

function stepOf(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`;
  return /^[\w/-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

function filled(schema: OptionSchema, given: unknown): unknown {
  const value = given === undefined ? schema.default : given;
  const { properties } = schema.anyOf?.find(one => isOfKind(one, value)) ?? schema;
  if (!properties || !isRecord(value)) return value;
  const entries = Object.entries(properties).map(([key, one]) => [key, filled(one, value[key])]);
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
}
