import 'reflect-metadata';
import type { JsonSchema } from './types.js';

const KEYWORDS_METADATA = 'nestjs-mcp:schema-keywords';

/** @param target the class, or the prototype for a property */
function addKeywords(target: object, property: string | symbol | undefined, keywords: JsonSchema): void {
  const merged = { ...keywordsOf(target, property), ...keywords };
  Reflect.defineMetadata(KEYWORDS_METADATA, merged, target, property!);
}

/** A property inherits keywords from the parent class; a class does not. */
export function keywordsOf(target: object, property: string | symbol | undefined): JsonSchema | undefined {
  const keywords: unknown =
    property === undefined
      ? Reflect.getOwnMetadata(KEYWORDS_METADATA, target)
      : Reflect.getMetadata(KEYWORDS_METADATA, target, property);
  return keywords as JsonSchema | undefined;
}

/**
 * Describes a DTO or its property in the JSON Schema that the model reads. @publicApi
 * @example
 * ```ts
 * class SearchDto {
 *   @Description('A part of the name of the product')
 *   @IsString()
 *   query!: string;
 * }
 * ```
 */
export function Description(text: string): ClassDecorator & PropertyDecorator {
  return (target: object, property?: string | symbol) => addKeywords(target, property, { description: text });
}

export const X_MCP_HEADER = 'x-mcp-header';

const HEADER_PROPERTIES = 'nestjs-mcp:header-properties';

/**
 * Makes clients repeat an argument in the HTTP header `Mcp-Param-<name>`, so that a load balancer can route by it. The
 * property is a string, an integer or a boolean of a tool's DTO, at any depth; null has no header. Proxies can read the
 * header: never put it on a secret. Specification 2026-07-28: basic/transports/streamable-http, custom headers from
 * tool parameters.
 * @param name an HTTP token, unique in the tool without case; a mistake stops the bootstrap
 * @publicApi
 * @example
 * ```ts
 * class OrdersDto {
 *   @McpHeader('Region')
 *   @IsString()
 *   region!: string;
 * }
 * ```
 */
export function McpHeader(name: string): PropertyDecorator {
  return (target, property) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(property)}: @McpHeader() cannot be on a static property; remove "static"`,
      );
    }
    addKeywords(target, property, mcpHeader(name));
    Reflect.defineMetadata(HEADER_PROPERTIES, [...headerProperties(target), property], target);
  };
}

/**
 * `@McpHeader()` for other schemas: `z.string().meta(mcpHeader('Region'))`, `v.metadata(mcpHeader('Region'))`.
 * Raw JSON Schema uses the keyword `x-mcp-header`.
 * @publicApi
 * @example
 * ```ts
 * const Orders = z.object({ region: z.string().meta(mcpHeader('Region')) });
 * ```
 */
export function mcpHeader(name: string): { [X_MCP_HEADER]: string } {
  return { [X_MCP_HEADER]: name };
}

/** The header properties of a class, including its parent classes. */
export function headerProperties(prototype: object): readonly (string | symbol)[] {
  return (Reflect.getMetadata(HEADER_PROPERTIES, prototype) ?? []) as (string | symbol)[];
}
