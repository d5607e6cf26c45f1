import { isRequired, reflectedType, type ClassProperty } from '../class-property.js';
import type { Keywords } from '../class-rules.js';
import { schemaOfProperty, type References } from './keywords.js';

/**
 * Where swagger and class-validator contradict each other in a property.
 * @param schema of the property
 * @param isGiven whether the property has an initial value, so that it may be required for one and not for the other
 */
export function contradictionOf(
  property: ClassProperty,
  schema: Keywords,
  isGiven: boolean,
  references: References,
): string | undefined {
  const { owner, name, rules, swagger } = property;
  if (!swagger || rules.length === 0) return undefined;
  // Without a type of its own, swagger keeps what TypeScript reflects, which may be less than the truth.
  const isOwn = swagger.type !== undefined && swagger.type !== reflectedType(owner, name);
  const { type: said, $ref } = isOwn ? schemaOfProperty(swagger, references) : {};
  // The plugin writes `Object` for a union.
  const isUnion = said === 'object' && $ref === undefined;
  if (!isUnion && typeof said === 'string' && typeof schema.type === 'string' && !isSame(said, schema.type)) {
    return `"${name}" is ${said} in swagger and ${schema.type} in class-validator`;
  }
  if (isGiven || swagger.required === undefined || swagger.required === isRequired(property))
    return undefined;
  const [swaggers, validators] = swagger.required ? ['required', 'optional'] : ['optional', 'required'];
  return `"${name}" is ${swaggers} in swagger and ${validators} in class-validator`;
}

const NUMBERS = ['number', 'integer'];

const isSame = (one: string, other: string): boolean =>
  one === other || (NUMBERS.includes(one) && NUMBERS.includes(other));
