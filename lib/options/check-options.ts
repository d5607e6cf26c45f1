import { isRecord } from '../util/is-record.js';
import { nearest } from '../util/nearest.js';
import { numbered } from '../util/numbered.js';
import type { ObjectSchema, OptionSchema } from './option-schema.js';

export interface OptionProblem {
  /** The keys and indexes that lead to the option. */
  readonly steps: readonly string[];
  readonly value: unknown;
  /** For example `must be true or false`. */
  readonly rule: string;
  /** The allowed options, if the option is unknown. */
  readonly known?: readonly string[];
  /** The options that the unknown name probably means, quoted. */
  readonly meant?: readonly string[];
  /** Replaces the other parts if a rule has its own sentence. */
  readonly sentence?: string;
}

/**
 * Checks options and fills in defaults. Values that are not option objects stay the same objects.
 * @param fail creates the error from the sentence, which lists all mistakes if there are several
 */
export function resolve<T extends object, F extends object>(
  schema: ObjectSchema<T, F>,
  options: T,
  fail: (sentence: string, first: OptionProblem) => Error,
): F {
  const problems = [...problemsOf(schema, options)];
  if (problems.length > 0) {
    throw fail(numbered(problems.map(problem => sentenceOf(problem, schema.title))), problems[0]);
  }
  return filled(schema, options) as F;
}

export function problemOf(
  schema: OptionSchema,
  value: unknown,
  steps: readonly string[] = [],
): OptionProblem | undefined {
  const [first] = problemsOf(schema, value, steps);
  return first;
}

function* problemsOf(
  schema: OptionSchema,
  value: unknown,
  steps: readonly string[] = [],
): Generator<OptionProblem, void, void> {
  const problem: OptionProblem = { steps, value, rule: ruleOf(schema, value) };
  if (schema.anyOf) {
    const fitting = schema.anyOf.find(one => isOfKind(one, value));
    if (!fitting) return yield problem;
    for (const inner of problemsOf(fitting, value, steps)) {
      yield inner.steps.length === steps.length && !inner.sentence ? problem : inner;
    }
    return;
  }
  if (!isOfKind(schema, value) || !isWithin(schema, value)) return yield problem;
  let isSound = true;
  for (const inner of problemsWithin(schema, value, steps)) {
    isSound = false;
    yield inner;
  }
  if (!isSound) return;
  if (schema.accepts?.(value as never) === false) return yield problem;
  const name = (key?: string) => nameOf(key === undefined ? steps : [...steps, key]);
  const sentence = schema.problem?.(value as never, name);
  if (sentence !== undefined) yield { ...problem, sentence };
}

function* problemsWithin(
  { items, properties, required, additionalProperties }: OptionSchema,
  value: unknown,
  steps: readonly string[],
): Generator<OptionProblem, void, void> {
  if (items && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* problemsOf(items, item, [...steps, String(index)]);
    return;
  }
  if (!isRecord(value) || !(properties || additionalProperties)) return;
  const known = Object.keys(properties ?? {});
  const others = Object.keys(value).filter(key => !known.includes(key));
  for (const key of others) {
    const own = [...steps, key];
    if (additionalProperties) {
      yield* problemsOf(additionalProperties, value[key], own);
    } else {
      const rule = `is unknown; allowed are ${known.join(', ')}`;
      const meant = meantBy(key, properties!).map(path => nameOf([...steps, ...path]));
      yield { steps: own, value: value[key], rule, known, meant };
    }
  }
  for (const [key, schema] of Object.entries(properties ?? {})) {
    if (value[key] === undefined && !required?.includes(key)) continue;
    yield* problemsOf(schema, value[key], [...steps, key]);
  }
}

/** The options that an unknown name probably means: one with a similar name, or those of this name one level below. */
function meantBy(key: string, properties: NonNullable<OptionSchema['properties']>): string[][] {
  const similar = nearest(key, Object.keys(properties));
  if (similar !== undefined) return [[similar]];
  return Object.entries(properties)
    .filter(([, schema]) =>
      [schema, ...(schema.anyOf ?? [])].some(one => Object.hasOwn(one.properties ?? {}, key)),
    )
    .map(([parent]) => [parent, key]);
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

export function sentenceOf(
  { steps, rule, known, meant = [], sentence }: OptionProblem,
  title?: string,
): string {
  if (sentence !== undefined) return sentence;
  if (known) {
    const hint = meant.length > 0 ? `; did you mean ${listed(meant, 'or')}?` : '';
    return `unknown option ${nameOf(steps)}; known are ${known.join(', ')}${hint}`;
  }
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
