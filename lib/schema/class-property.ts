import type { Type } from '@nestjs/common';
import { childPath } from './result.js';
import type { SchemaIssue, SchemaIo } from './types.js';
import type { ClassPeers, ValidationRule } from './class-peers.js';
import { type Keywords, keywordsOfRule, narrow } from './class-rules.js';
import { keywordsOf } from './keywords.js';
import { REFLECTED_TYPES } from './reflected-types.js';
import { SchemaError } from './schema.error.js';
import { schemaOfProperty, wordsOf, type References } from './swagger/keywords.js';
import type { SwaggerProperty } from './swagger/model.js';

/** The rules of a property that class-validator does not always check. */
export interface PropertyShape {
  readonly name: string;
  readonly isRequired: boolean;
  /** Undefined if class-validator checks it. */
  readonly isList: boolean | undefined;
  readonly isNested: boolean;
}

export type Shapes = ReadonlyMap<unknown, readonly PropertyShape[]>;

/**
 * Finds values that class-validator accepts although the schema refuses them. `@ValidateNested()` accepts lists for
 * objects, nested lists and undefined; `each: true` accepts a single value for a list.
 */
export function shapeIssues(shapes: Shapes, instance: object, path: string): SchemaIssue[] {
  const properties = shapes.get(instance.constructor) ?? [];
  return properties.flatMap(shape => propertyIssues(shapes, shape, instance, childPath(path, shape.name)));
}

function propertyIssues(
  shapes: Shapes,
  { name, isRequired, isList, isNested }: PropertyShape,
  instance: object,
  path: string,
): SchemaIssue[] {
  const value = (instance as Record<string, unknown>)[name];
  if (value === undefined && isRequired) return [{ path, message: `${name} must be given` }];
  if (value === undefined || value === null) return [];

  const items = itemsOf(value);
  if (isList !== undefined && isList !== (items !== undefined)) {
    return [{ path, message: `${name} must ${isList ? 'be' : 'not be'} an array` }];
  }
  if (!isNested) return [];
  if (!items) return shapeIssues(shapes, value, path);
  return items.flatMap((item, index) => {
    const at = childPath(path, index);
    return itemsOf(item)
      ? [{ path: at, message: `each value in ${name} must be an object` }]
      : shapeIssues(shapes, item as object, at);
  });
}

function itemsOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) || value instanceof Set ? [...value] : undefined;
}

export interface ClassProperty {
  readonly owner: Type<unknown>;
  readonly name: string;
  /** The rules of class-validator; empty if only swagger describes the property. */
  readonly rules: readonly ValidationRule[];
  /** What swagger says of it, if it says something. */
  readonly swagger?: SwaggerProperty;
}

/** Whether swagger alone gives the type of a property, so that class-validator does not check it. */
export const isTypedBySwagger = ({ rules, swagger }: ClassProperty): boolean =>
  swagger !== undefined && !rules.some(givesType);

function givesType({ type, name, constraints, each, validateIf }: ValidationRule): boolean {
  if (validateIf) return false;
  return each || type === 'nestedValidation' || isTyped(keywordsOfRule(name, constraints ?? [], 'input'));
}

/** Used if decorators do not give the type. */
const REFLECTED = new Map<unknown, Keywords>([...REFLECTED_TYPES, [Array, { type: 'array' }]]);

export function isConditional({ rules }: ClassProperty): boolean {
  return rules.some(rule => rule.type === 'conditionalValidation');
}

/** `@Allow()` alone requires nothing. */
export function isRequired(property: ClassProperty): boolean {
  if (property.rules.length === 0) return property.swagger!.required !== false;
  return !isConditional(property) && property.rules.some(rule => rule.type !== 'whitelistValidation');
}

function isList({ owner, name, rules }: ClassProperty): boolean {
  const isListRule = ({ each, name, constraints = [] }: ValidationRule) =>
    each || keywordsOfRule(name, constraints, 'input').type === 'array';
  return reflectedType(owner, name) === Array || rules.some(isListRule);
}

export function isNested({ rules }: ClassProperty): boolean {
  return rules.some(rule => rule.type === 'nestedValidation');
}

export function shapeOf(property: ClassProperty): PropertyShape {
  const isLoose = isNested(property) || property.rules.some(rule => rule.each);
  return {
    name: property.name,
    isRequired: isRequired(property),
    isList: isLoose ? isList(property) : undefined,
    isNested: isNested(property),
  };
}

export function reflectedType(owner: Type<unknown>, name: string): unknown {
  return Reflect.getMetadata('design:type', owner.prototype as object, name);
}

/**
 * @param nested creates the schema of the property's class, for `@ValidateNested()`
 * @param references finds the classes of swagger
 * @throws SchemaError if every value is invalid because `@Type()` is missing
 */
export function propertySchema(
  property: ClassProperty,
  nested: () => Keywords,
  peers: ClassPeers,
  io: SchemaIo,
  references: References,
): Keywords {
  const { owner, name, rules, swagger } = property;
  const about = keywordsOf(owner.prototype as object, name);
  if (swagger && (rules.length === 0 || isText(property, peers, io, references))) {
    return { ...schemaOfProperty(swagger, references), ...wordsOf(swagger), ...about };
  }
  requireDateType(property, peers);

  const whole: Keywords = {};
  const each: Keywords = {};
  for (const rule of rules) {
    if (rule.validateIf) continue;
    narrow(rule.each ? each : whole, keywordsOfRule(rule.name, rule.constraints ?? [], io));
  }

  if (isList(property)) whole.type ??= 'array';
  if (isNested(property)) {
    narrow(isList(property) ? each : whole, nested());
    delete whole.uniqueItems; // class-validator compares objects by identity
  }
  if (Object.keys(each).length > 0) whole.items = tidy(each);
  if (!isTyped(whole) && swagger) {
    const nullable = swagger.nullable && !isRequired(property);
    Object.assign(whole, { ...schemaOfProperty({ ...swagger, nullable }, references), ...whole });
  }
  if (!isTyped(whole)) Object.assign(whole, REFLECTED.get(reflectedType(owner, name)));

  const words = swagger && wordsOf(swagger);
  return { ...words, ...orNull(tidy(whole), io === 'output' && isConditional(property)), ...about };
}

/** Whether `@Transform()` makes the class of `@ValidateNested()` of a text, as swagger says. */
const isText = (property: ClassProperty, peers: ClassPeers, io: SchemaIo, references: References): boolean =>
  io === 'input' &&
  isNested(property) &&
  peers.isTransformed(property.owner, property.name) &&
  schemaOfProperty(property.swagger!, references).type === 'string';

function requireDateType({ owner, name, rules }: ClassProperty, peers: ClassPeers): void {
  if (!rules.some(rule => rule.name === 'isDate')) return;
  if (peers.declaredType(owner, name)?.type === Date || peers.isTransformed(owner, name)) return;
  throw new SchemaError(
    `${owner.name}.${name} is @IsDate(), but JSON has only strings: add @Type(() => Date) of class-transformer`,
  );
}

function isTyped(keywords: Keywords): boolean {
  return ['type', 'enum', 'const', '$ref', 'anyOf'].some(key => key in keywords);
}

/** `@IsNotEmpty()` limits only the length of strings. */
function tidy(keywords: Keywords): Keywords {
  const { minLength: _, ...rest } = keywords;
  return isTyped(keywords) && ![keywords.type].flat().includes('string') ? rest : keywords;
}

/** class-validator accepts null for a missing value. The schema of a result has to say so. */
function orNull(keywords: Keywords, nullable: boolean): Keywords {
  return nullable && Object.keys(keywords).length > 0 ? { anyOf: [keywords, { type: 'null' }] } : keywords;
}
