import { childPath } from './result.js';
import type { SchemaIssue } from './types.js';

/** The rules of a property that class-validator may not check. */
export interface PropertyShape {
  readonly name: string;
  readonly isRequired: boolean;
  /** Undefined if class-validator checks it. */
  readonly isList: boolean | undefined;
  readonly isNested: boolean;
}

export type Shapes = ReadonlyMap<unknown, readonly PropertyShape[]>;

/**
 * Finds values that class-validator accepts against the schema: `@ValidateNested()` takes lists for objects, nested lists
 * and undefined; `each: true` takes a single value for a list.
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
