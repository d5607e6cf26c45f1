import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Type } from '@nestjs/common';
import type { HandlerMetadata } from '../decorators/handler-options.js';
import { HANDLER_METADATA } from '../decorators/metadata.js';
import type { McpContext } from '../execution/mcp-context.js';

/** The methods of a class. */
export type MethodsOf<T> = {
  [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never;
}[keyof T] &
  string;

/** The arguments of a tool, as far as the type of its method says them. A property of a DTO may have a default. */
export type ArgumentsOf<F> = F extends (args: infer A, ...rest: never[]) => unknown
  ? A extends McpContext
    ? Record<string, unknown>
    : A extends object
      ? Partial<A>
      : Record<string, unknown>
  : Record<string, unknown>;

declare const RETURNED: unique symbol;

/** The result of a tool. At run time, it is an ordinary result; `jsonOf` reads what the method returned, typed. */
export type ToolResult<T> = CallToolResult & { readonly [RETURNED]?: T };

/** What a client reads of what a method returned: a `Date` becomes a text. `unknown` for a method that returns content. */
export type ReturnedBy<F> = F extends (...args: never[]) => infer R
  ? Awaited<R> extends { readonly content: unknown }
    ? unknown
    : Json<Awaited<R>>
  : unknown;

type Json<T> = T extends { toJSON(): infer J }
  ? Json<J>
  : T extends object
    ? { [K in keyof T]: Json<T[K]> }
    : T;

/**
 * The name of the tool that a method is.
 * @param server whose tool is meant, if the method is a tool of several. Default: the first
 * @throws Error for a method without `@Tool`
 */
export function toolNameOf(type: Type, method: string, server?: string): string {
  const declared = Reflect.get(type.prototype as object, method) as object | undefined;
  const all = (declared && (Reflect.getMetadata(HANDLER_METADATA, declared) as HandlerMetadata[])) ?? [];
  const tools = all.flatMap(({ kind, options }) => (kind === 'tool' ? [options] : []));
  const tool = tools.find(one => server !== undefined && one.server === server) ?? tools[0];
  if (!tool) throw new Error(`${type.name}.${method} has no @Tool()`);
  return tool.name ?? method;
}
