import type { SchemaIo } from './types.js';

export type Keywords = Record<string, unknown>;

type Rule = (args: readonly unknown[], io: SchemaIo) => Keywords;

const string = { type: 'string' };
const array = { type: 'array' };
const object = { type: 'object' };

/**
 * JSON Schema keywords by the rule names of class-validator. Without a rule, the JSON Schema accepts more values than
 * the class.
 */
const RULES = new Map<string, Rule>([
  ['isString', () => string],
  ['minLength', ([min]) => ({ ...string, ...finite({ minLength: min }) })],
  ['maxLength', ([max]) => ({ ...string, ...finite({ maxLength: max }) })],
  ['isLength', ([min, max]) => ({ ...string, ...finite({ minLength: min, maxLength: max }) })],
  ['isNotEmpty', () => ({ minLength: 1 })],
  ['matches', ([pattern, flags]) => ({ ...string, ...portablePattern(pattern, flags) })],
  ['isEmail', (_, io) => ({ ...string, ...advised(io, { format: 'email' }) })],
  ['isUrl', (_, io) => ({ ...string, ...advised(io, { format: 'uri' }) })],
  ['isDateString', (_, io) => ({ ...string, ...advised(io, DATE_OR_TIME) })],
  ['isIso8601', (_, io) => ({ ...string, ...advised(io, DATE_OR_TIME) })],
  ['isIp', ([version], io) => ({ ...string, ...advised(io, ipFormat(version)) })],
  ['isUuid', () => ({ ...string, format: 'uuid' })],
  ['isDate', () => ({ ...string, format: 'date-time' })],

  ['isNumber', () => ({ type: 'number' })],
  ['isInt', () => ({ type: 'integer' })],
  ['isPositive', () => ({ type: 'number', exclusiveMinimum: 0 })],
  ['isNegative', () => ({ type: 'number', exclusiveMaximum: 0 })],
  ['min', ([min]) => ({ type: 'number', ...finite({ minimum: min }) })],
  ['max', ([max]) => ({ type: 'number', ...finite({ maximum: max }) })],

  ['isBoolean', () => ({ type: 'boolean' })],
  ['isEnum', ([entity]) => enumKeywords(entity as object)],
  ['isIn', ([values]) => oneOf(values as readonly unknown[])],
  ['equals', ([value]) => (isScalar(value) ? { const: value } : {})],

  ['isArray', () => array],
  ['arrayNotEmpty', () => ({ ...array, minItems: 1 })],
  ['arrayMinSize', ([min]) => ({ ...array, ...finite({ minItems: min }) })],
  ['arrayMaxSize', ([max]) => ({ ...array, ...finite({ maxItems: max }) })],
  ['arrayUnique', () => ({ ...array, uniqueItems: true })],

  ['isObject', () => object],
  ['isNotEmptyObject', () => ({ ...object, minProperties: 1 })],
]);

const DATE_OR_TIME = { anyOf: [{ format: 'date-time' }, { format: 'date' }] };

export function keywordsOfRule(name: string | undefined, args: readonly unknown[], io: SchemaIo): Keywords {
  return (name && RULES.get(name)?.(args, io)) || {};
}

/** Keeps the narrower of two bounds, and joins other keywords with `allOf`. */
export function narrow(target: Keywords, keywords: Keywords): void {
  for (const [key, value] of Object.entries(keywords)) {
    const current = target[key];
    if (current === undefined || (current === 'number' && value === 'integer')) target[key] = value;
    else if (current === value || (current === 'integer' && value === 'number')) continue;
    else if (key.startsWith('min')) target[key] = Math.max(Number(current), Number(value));
    else if (key.startsWith('max')) target[key] = Math.min(Number(current), Number(value));
    else target.allOf = [...((target.allOf as Keywords[] | undefined) ?? []), { [key]: value }];
  }
}

export const enumKeywords = (entity: object): Keywords => oneOf(enumValues(entity));

export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/**
 * Adds a format that is stricter than the decorator's check. In a result, clients would refuse valid values because of
 * it.
 */
function advised(io: SchemaIo, keywords: Keywords): Keywords {
  return io === 'input' ? keywords : {};
}

function finite(bounds: Keywords): Keywords {
  return Object.fromEntries(Object.entries(bounds).filter(([, bound]) => Number.isFinite(bound)));
}

function ipFormat(version: unknown): Keywords {
  return version ? { format: `ipv${Number(version)}` } : { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] };
}

/** JSON Schema uses Unicode patterns without flags. Other patterns are omitted. */
function portablePattern(pattern: unknown, flags: unknown): Keywords {
  try {
    const { source, flags: needed } = new RegExp(pattern as RegExp | string, flags as string | undefined);
    return /[imsvy]/.test(needed) ? {} : { pattern: new RegExp(source, 'u').source };
  } catch {
    return {};
  }
}

function oneOf(values: readonly unknown[]): Keywords {
  const scalars = [...new Set(values)].filter(value => value === null || isScalar(value));
  const types = new Set(scalars.map(jsonType));
  const [type] = types;
  return types.size === 1 ? { type, enum: scalars } : { enum: scalars };
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** The values of a TypeScript enum, without the reverse mapping of its numbers. */
function enumValues(entity: object): unknown[] {
  const members = entity as Record<string, unknown>;
  const isName = (key: string) => typeof members[key] === 'string' && members[members[key]] === Number(key);
  return Object.keys(members)
    .filter(key => !isName(key))
    .map(key => members[key]);
}
