import 'reflect-metadata';
import type { JsonSchema } from './types.js';

const KEYWORDS_METADATA = 'nestjs-mcp:schema-keywords';

/** @param target the class, or the prototype for a property */
export function addKeywords(
  target: object,
  property: string | symbol | undefined,
  keywords: JsonSchema,
): void {
  const merged = { ...keywordsOf(target, property), ...keywords };
  if (property === undefined) Reflect.defineMetadata(KEYWORDS_METADATA, merged, target);
  else Reflect.defineMetadata(KEYWORDS_METADATA, merged, target, property);
}

/** A property inherits keywords from the parent class; a class does not. */
export function keywordsOf(target: object, property: string | symbol | undefined): JsonSchema | undefined {
  const keywords: unknown =
    property === undefined
      ? Reflect.getOwnMetadata(KEYWORDS_METADATA, target)
      : Reflect.getMetadata(KEYWORDS_METADATA, target, property);
  return keywords as JsonSchema | undefined;
}
