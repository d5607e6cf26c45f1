import 'reflect-metadata';
import type { JsonSchema } from './types.js';

const KEYWORDS_METADATA = 'nestjs-mcp:schema-keywords';

/** Adds JSON Schema keywords to a class, or to one property of it (where `target` is the prototype). */
export function addKeywords(
  target: object,
  property: string | symbol | undefined,
  keywords: JsonSchema,
): void {
  const merged = { ...keywordsOf(target, property), ...keywords };
  if (property === undefined) Reflect.defineMetadata(KEYWORDS_METADATA, merged, target);
  else Reflect.defineMetadata(KEYWORDS_METADATA, merged, target, property);
}

/** What was added. A property inherits from the parent class's; a class does not, as it is another thing. */
export function keywordsOf(target: object, property: string | symbol | undefined): JsonSchema | undefined {
  const keywords: unknown =
    property === undefined
      ? Reflect.getOwnMetadata(KEYWORDS_METADATA, target)
      : Reflect.getMetadata(KEYWORDS_METADATA, target, property);
  return keywords as JsonSchema | undefined;
}
