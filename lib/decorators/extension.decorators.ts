import { SetMetadata } from '@nestjs/common';
import type { Era } from '../protocol/mcp-call.js';
import type { SchemaLike } from '../schema/types.js';
import { declareOnMethod, EXTENSION_METADATA, EXTENSION_METHOD_METADATA } from './metadata.js';

/** Options of `@McpExtension`. */
export interface McpExtensionOptions {
  /**
   * Identifier in `capabilities.extensions`, with the prefix of its owner: `com.acme/search` (2026-07-28:
   * basic/index). Default: none; clients do not learn of the extension.
   */
  id?: string;
  /** Settings in the capabilities. Default: an empty object. */
  settings?: Readonly<Record<string, unknown>>;
  /** Name of the extended server. Default: all servers of the application. */
  server?: string;
}

/** Options of `@ExtensionMethod`. */
export interface ExtensionMethodOptions {
  /** Schema of the params. Default: the class of the `@Args()` parameter. */
  params?: SchemaLike;
  /** Schema of the result, which is checked. Default: any object. */
  result?: SchemaLike;
  /** The eras whose clients may call it. Default: both. */
  eras?: readonly Era[];
  /**
   * The field of the params that the `Mcp-Name` header must repeat (2026-07-28: basic/transports/streamable-http).
   * Only for clients that send it: the official client sends it for the methods of the specification only. Default: no
   * field.
   */
  nameHeader?: string;
  /** Whether a client must declare the extension; otherwise it gets the error -32021. Default: false. */
  requireClient?: boolean;
}

export interface ExtensionMethodMetadata {
  readonly method: string;
  readonly options: ExtensionMethodOptions;
}

/**
 * Makes a provider an extension of the protocol: its `@ExtensionMethod` methods answer requests, and its function
 * `stages(method, era)` decides, when a server is built, what runs around each method; see `ServerExtension`. List the
 * class in the `providers` of a module.
 * @example
 * ```ts
 * @McpExtension({ id: 'com.acme/search' })
 * class Search {
 *   @ExtensionMethod('acme/search', { params: SearchDto })
 *   search({ query }: SearchDto) {
 *     return { hits: this.index.find(query) };
 *   }
 * }
 * ```
 */
export const McpExtension = (options: McpExtensionOptions = {}): ClassDecorator =>
  SetMetadata(EXTENSION_METADATA, options);

/**
 * Makes a method of an `@McpExtension` class answer a request of the protocol. Guards, pipes, Nest interceptors,
 * filters, `@Args()`, `@Ctx()`, `@Ask()` and `@RequireScopes()` work as on a tool. The method returns an object, a
 * Promise or an Observable of one, or nothing.
 * @param method of the request, such as `acme/search`
 * @example
 * ```ts
 * @ExtensionMethod('acme/reindex', { eras: ['modern'], requireClient: true })
 * @RequireScopes('admin')
 * async reindex(@Ctx() ctx: McpContext) {
 *   await ctx.reportProgress(0.5);
 *   return { documents: await this.index.rebuild() };
 * }
 * ```
 */
export const ExtensionMethod =
  (method: string, options: ExtensionMethodOptions = {}): MethodDecorator =>
  (target, key, descriptor) => {
    const metadata: ExtensionMethodMetadata = { method, options };
    declareOnMethod(EXTENSION_METHOD_METADATA, metadata, 'an extension method')(target, key, descriptor);
    // The class may lack @McpExtension(), which the start reports.
    Reflect.defineMetadata(EXTENSION_METHOD_METADATA, true, target.constructor);
  };
