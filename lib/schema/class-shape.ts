import { childPath } from './result.js';
import type { SchemaIssue } from './types.js';

/** What a class says about a property, as far as class-validator may let something else pass. */
export interface PropertyShape {
  readonly name: string;
  readonly isRequired: boolean;
  /** Whether a value must be a list, or must not be one; undefined where class-validator sees to it. */
  readonly isList: boolean | undefined;
  readonly isNested: boolean;
}

export type Shapes = ReadonlyMap<unknown, readonly PropertyShape[]>;

/**
 * Holds a valid instance to its JSON Schema where class-validator does not: `@ValidateNested()` takes a list
 * for an object, lists of lists for a list, and nothing at all; `each: true` takes a single value for a list.
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
