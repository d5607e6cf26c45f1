import 'reflect-metadata';
import { addKeywords } from './keywords.js';

export const X_MCP_HEADER = 'x-mcp-header';

const HEADER_PROPERTIES = 'nestjs-mcp:header-properties';

/**
 * Has clients repeat an argument in the HTTP header `Mcp-Param-<name>`, so that a load balancer can route by it:
 * `@McpHeader('Region')`. The property must be a string, an integer or a boolean, of a tool's DTO or of one nested in it.
 * It may be null, which has no header. Everybody on the way can read the header: never put it on a secret.
 *
 * Specification 2026-07-28: basic/transports/streamable-http, custom headers from tool parameters.
 *
 * @param name an HTTP token that no other property of the tool has, in whatever case; a breach stops the bootstrap
 * @publicApi
 */
export function McpHeader(name: string): PropertyDecorator {
  return (target, property) => {
    if (typeof target === 'function') {
      throw new TypeError(
        `${target.name}.${String(property)}: @McpHeader() is for properties that are not static`,
      );
    }
    addKeywords(target, property, mcpHeader(name));
    Reflect.defineMetadata(HEADER_PROPERTIES, [...headerProperties(target), property], target);
  };
}

/**
 * `@McpHeader()` for other schemas, as metadata: `z.string().meta(mcpHeader('Region'))`, or in valibot
 * `v.pipe(v.string(), v.metadata(mcpHeader('Region')))`. In raw JSON Schema it is the keyword `x-mcp-header`.
 *
 * @publicApi
 */
export function mcpHeader(name: string): { [X_MCP_HEADER]: string } {
  return { [X_MCP_HEADER]: name };
}

/** The properties of a class, and of its parents, that have `@McpHeader()`. */
export function headerProperties(prototype: object): readonly (string | symbol)[] {
  return (Reflect.getMetadata(HEADER_PROPERTIES, prototype) ?? []) as (string | symbol)[];
}
