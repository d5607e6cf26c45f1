import type { Type } from '@nestjs/common';
import { isRecord } from '../../util/is-record.js';
import { enumKeywords, type Keywords } from '../class-rules.js';
import { REFLECTED_TYPES } from '../reflected-types.js';
import { SchemaError } from '../schema.error.js';
import type { SwaggerProperty } from './model.js';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array'];

/** Keywords that say something to the reader. */
const WORDS = ['title', 'description', 'deprecated', 'default'];

const LIMITS = [
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'additionalProperties',
  'properties',
  'items',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
];

const REF = '#/components/schemas/';

/** Finds schemas of classes. */
export interface References {
  readonly of: (type: Type<unknown>) => Keywords;
  /** A class of `@ApiExtraModels()`. */
  readonly named: (name: string) => Type<unknown> | undefined;
}

/** The description, the title, the examples and the default of a property. */
export function wordsOf(property: SwaggerProperty): Keywords {
  const words = pick(property, WORDS);
  const { example, examples } = property;
  const list = isRecord(examples) ? Object.values(examples) : examples;
  if (Array.isArray(list))
    words.examples = list.map(one => (isRecord(one) && 'value' in one ? one['value'] : one) as unknown);
  else if (example !== undefined) words.examples = [example];
  return words;
}

/** The schema of a property, in the words of JSON Schema instead of those of OpenAPI. @throws SchemaError */
export function schemaOfProperty(property: SwaggerProperty, references: References): Keywords {
  const { nullable, enum: values, enumName: _, isArray } = property;
  const [type, isList] = typeOf(property);
  const limits = translated(pick(property, LIMITS), references) as Keywords;
  const one = {
    ...typeKeywords(type, references),
    ...(values !== undefined && enumKeywords(valuesOf(values))),
  };
  const whole: Keywords =
    isList || isArray === true ? { type: 'array', items: one, ...limits } : { ...one, ...limits };
  return nullable === true ? orNull(whole) : whole;
}

export interface ModelClass {
  readonly type: Type<unknown>;
  readonly isList: boolean;
}

/** The class of a property's values, also `Date`; undefined for JSON values. */
export function classOf(property: SwaggerProperty): ModelClass | undefined {
  const [type, isList] = typeOf(property);
  return isModel(type) || type === Date
    ? { type: type as Type<unknown>, isList: isList || property.isArray === true }
    : undefined;
}

/** A class, or the name of a JSON type, and whether the property is a list of it. */
function typeOf({ type }: SwaggerProperty): [unknown, boolean] {
  const resolved: unknown = isLazy(type) ? type() : type;
  return Array.isArray(resolved) ? [(resolved as unknown[])[0], true] : [resolved, false];
}

/** `() => X` is a function without a prototype, which a class has. */
const isLazy = (type: unknown): type is () => unknown =>
  typeof type === 'function' && !('prototype' in type) && !REFLECTED_TYPES.has(type);

const isModel = (type: unknown): type is Type<unknown> =>
  typeof type === 'function' &&
  !REFLECTED_TYPES.has(type) &&
  ![Object, Array, BigInt, Promise].includes(type as never);

function typeKeywords(type: unknown, references: References): Keywords {
  if (isModel(type)) return references.of(type);
  if (type === 'date') return { type: 'string' };
  if (typeof type === 'string') return TYPES.includes(type) ? { type } : {};
  if (type === Object) return { type: 'object' };
  if (type === Array) return { type: 'array' };
  if (type === BigInt) return { type: 'integer' };
  return { ...REFLECTED_TYPES.get(type) };
}

const valuesOf = (values: unknown): object =>
  (typeof values === 'function' ? (values as () => object)() : values) as object;

/** `null` is a type of its own in JSON Schema. */
function orNull({ type, enum: values, ...rest }: Keywords): Keywords {
  if (Array.isArray(values)) return { ...rest, enum: [...(values as unknown[]), null] };
  if (typeof type === 'string' && !('$ref' in rest)) return { ...rest, type: [type, 'null'] };
  return { anyOf: [{ ...rest, ...(type !== undefined && { type }) }, { type: 'null' }] };
}

/** Translates what authors write as OpenAPI: references, `nullable`, `example`, bounds as booleans. */
function translated(schema: unknown, references: References): unknown {
  if (Array.isArray(schema)) return schema.map(item => translated(item, references));
  if (!isRecord(schema)) return schema;
  const { $ref, nullable, example, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  if (typeof $ref === 'string' && $ref.startsWith(REF))
    return referenceTo($ref.slice(REF.length), references);
  const result: Keywords = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, translated(value, references)]),
  );
  if ($ref !== undefined) result.$ref = $ref;
  bound(result, 'minimum', 'exclusiveMinimum', exclusiveMinimum);
  bound(result, 'maximum', 'exclusiveMaximum', exclusiveMaximum);
  if (example !== undefined) result.examples = [example];
  return nullable === true ? orNull(result) : result;
}

function bound(schema: Keywords, key: string, exclusive: string, value: unknown): void {
  if (value === true) {
    schema[exclusive] = schema[key];
    delete schema[key];
  } else if (typeof value === 'number') schema[exclusive] = value;
}

function referenceTo(name: string, { of, named }: References): Keywords {
  const type = named(name);
  if (type) return of(type);
  throw new SchemaError(
    `a schema of swagger refers to ${name}, which is unknown: add @ApiExtraModels(${name}) to the class`,
  );
}

const pick = (property: SwaggerProperty, keys: readonly string[]): Keywords =>
  Object.fromEntries(keys.flatMap(key => (property[key] === undefined ? [] : [[key, property[key]]])));
